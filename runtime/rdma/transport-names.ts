/** The names of the transports, as users write them and handles number them. */

/**
 * The mechanism that transfers bytes: through shared memory, by reading the memory of a process of the same machine
 * (`vm`), by an RDMA network card (`verbs`), or over a connection (`stream`).
 */
export type Transport = "shared" | "vm" | "verbs" | "stream";

/**
 * The transports in the order in which they are tried. Handles contain indexes of this list, so new ones are appended.
 */
export const transports: readonly Transport[] = ["shared", "vm", "verbs", "stream"];

/** @throws TypeError that lists the valid names */
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

/**
 * Returns the transports that `VICEROY_RDMA_TRANSPORT` allows in this process, separated by commas; by default all. The
 * variable is read once.
 * @throws TypeError if the variable contains another name
 */
export function allowedTransports(): readonly Transport[] {
  knownAllowed ??= readAllowed(process.env["VICEROY_RDMA_TRANSPORT"]);
  return knownAllowed;
}

function readAllowed(given: string | undefined): readonly Transport[] {
  if (given === undefined || given === "") return transports;
  return checkTransports(given.split(",").map((name) => name.trim()));
}
