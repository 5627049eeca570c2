/**
 * Moves the bytes of one operation: several pieces at a time, on a queue pair that may break in the middle of it, also because of
 * somebody else's mistake. Then what was only read is read again on a new one. What was being written may have been written or not.
 */
import { RdmaError } from "../errors.js";
import type { Operation } from "../operation.js";
import type { Way } from "./connection.js";
import type { OpenPort } from "./devices.js";
import type { Local } from "./locals.js";
import { type Part, Pieces } from "./pieces.js";
import { isRefused, isSilence, notPosted, status } from "./status.js";

/** Pieces of one operation under way. */
const lanes = 16;
/** How many queue pairs an operation may see break before it gives up. */
const mostBreaks = 8;

/** How an operation finds its way, and a new one after a break. */
export interface Route {
  readonly way: Way | undefined;
  /** @throws RdmaError when the owner refuses, or is gone */
  anew(operation: Operation): Promise<Way>;
}

interface Failure {
  readonly part: Part;
  readonly code: number;
}

/** As promised by `Opened.transfer`. */
export async function transfer(operation: Operation, route: Route): Promise<void> {
  const { port } = route.way ?? (await route.anew(operation));
  const local = await localOf(operation, port);
  let arrived = false;
  try {
    const pieces = new Pieces(operation);
    for (let breaks = 0; !arrived; breaks++) {
      const way = route.way ?? (await route.anew(operation));
      if (way.port !== port) throw gone(operation, "its RDMA port has been closed");
      const failures = await round(operation, pieces, local, way);
      if (operation.cancelled) throw new RdmaError("ERR_RDMA_TIMEOUT", `${failed(operation)}: it was cancelled`);
      arrived = failures.length === 0;
      if (!arrived) await judge(operation, failures, route, breaks);
      for (const { part } of failures) pieces.giveBack(part);
    }
  } finally {
    local.release(arrived);
  }
}

async function localOf(operation: Operation, { locals }: OpenPort): Promise<Local> {
  try {
    return await locals.take(operation);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new RdmaError("ERR_RDMA_LIMIT", `${failed(operation)}: ${why}`, { cause: error });
  }
}

/** Moves pieces until there are none, or one fails. Resolves when nothing is under way any more. */
async function round(operation: Operation, pieces: Pieces, local: Local, way: Way): Promise<readonly Failure[]> {
  const write = operation.direction === "write";
  const failures: Failure[] = [];
  const wanted = (): boolean => failures.length === 0 && !operation.cancelled;
  const lane = async (): Promise<void> => {
    while (wanted()) {
      const part = pieces.next();
      if (part === undefined) return;
      const code = await move(part, write, local, way, wanted);
      if (code === status.success) operation.count(part.length);
      else failures.push({ part, code });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return failures;
}

function move(part: Part, write: boolean, local: Local, { pair, address, key }: Way, wanted: () => boolean) {
  const remote = address + BigInt(part.remote);
  const { region, offset } = local;
  return pair.move({ write, region, offset: offset + part.local, length: part.length, remote, key }, wanted);
}

/**
 * What to do about pieces that have failed: returns when they are to be tried again, on a new way.
 * @throws RdmaError
 */
async function judge(operation: Operation, failures: readonly Failure[], route: Route, breaks: number): Promise<void> {
  const has = (test: (code: number) => boolean): boolean => failures.some(({ code }) => test(code));
  // The owner knows more than its device says: which refusal it is, and whether there is an owner still.
  await route.anew(operation);
  if (has(isRefused) && breaks > 0) {
    throw new RdmaError(
      "ERR_RDMA_FAULT",
      `${failed(operation)}: the owner's device refuses it, though the grant is good`,
    );
  }
  if (operation.direction === "write" && has((code) => code !== notPosted && !isRefused(code))) {
    throw new RdmaError(
      "ERR_RDMA_UNKNOWN",
      `${failed(operation)}: the connection broke meanwhile; any part may have been written`,
    );
  }
  if (breaks >= mostBreaks) {
    throw gone(operation, has(isSilence) ? "its device does not answer" : "the connection breaks again and again");
  }
}

function gone(operation: Operation, why: string): RdmaError {
  return new RdmaError("ERR_RDMA_PEER_GONE", `${failed(operation)}: the owner is not reached: ${why}`);
}

function failed({ direction, bytes }: Operation): string {
  return `cannot ${direction} ${bytes} bytes`;
}
