/** The names of the ways in which bytes move, for users and in handles. */

/**
 * How bytes are transferred: through shared memory, by reading the memory of a process of the same machine (`vm`), by
 * an RDMA network card (`verbs`), or over a connection (`stream`).
 */
export type Transport = "shared" | "vm" | "verbs" | "stream";

/** Best first: the order in which they are tried. Handles count by this order: new ones come at the end. */
export const transports: readonly Transport[] = ["shared", "vm", "verbs", "stream"];

/** @throws TypeError with the names that there are */
export function checkTransports(given: readonly string[]): readonly Transport[] {
  for (const name of given) {
    if (!(transports as readonly string[]).includes(name)) {
      throw new TypeError(`invalid transport: expected some of ${transports.join(", ")}, got ${JSON.stringify(name)}`);
    }
  }
  if (given.length === 0)
    throw new TypeError(`invalid transports: expected some of ${transports.join(", ")}, got none`);
  return given as readonly Transport[];
}

let knownAllowed: readonly Transport[] | undefined;

/** Which are allowed in this process: `VICEROY_RDMA_TRANSPORT`, with commas; all by default. Read once. @throws TypeError */
export function allowedTransports(): readonly Transport[] {
  knownAllowed ??= readAllowed(process.env["VICEROY_RDMA_TRANSPORT"]);
  return knownAllowed;
}

function readAllowed(given: string | undefined): readonly Transport[] {
  if (given === undefined || given === "") return transports;
  return checkTransports(given.split(",").map((name) => name.trim()));
}
