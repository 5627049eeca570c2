/**
 * Where incoming bytes land. All links of a thread share one piece of memory for that: what is read is handled before anything
 * else is read, but for the rest of a frame whose end is still to come, which moves into memory of its own. So a link at which
 * nothing is under way costs none, however many there are.
 */

export const RECEIVE_BUFFER = 64 * 1024;

export interface ReceiveMemory {
  /** A Buffer, so that readers find its string methods; not zeroed, since nothing is read that was not received. */
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Pieces that are kept for the next who needs one. */
const KEPT = 16;

/** Windows fills the memory that a read was started with whenever it likes, and not while the read is handled. */
const readsAtOnce = process.platform !== "win32";

const idle: ReceiveMemory[] = [];
const shared = newMemory();
/** What is in the shared memory is being handled. */
let busy = false;

function newMemory(): ReceiveMemory {
  const bytes = Buffer.allocUnsafeSlow(RECEIVE_BUFFER);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** Memory to read into next: the shared one unless the caller is called by what handles it, as relayed links are. */
export function memoryToReadInto(): ReceiveMemory {
  return busy || !readsAtOnce ? ownMemory() : shared;
}

/** Memory that nobody else reads into, until it is released. */
export function ownMemory(): ReceiveMemory {
  return idle.pop() ?? newMemory();
}

/** Of one's own: it is not needed any more. */
export function releaseMemory(memory: ReceiveMemory): void {
  if (idle.length < KEPT) idle.push(memory);
}

export function isShared(memory: ReceiveMemory): boolean {
  return memory === shared;
}

/** What stands in the shared memory is being handled from now on: nobody else reads into it. */
export function beginHandling(): void {
  busy = true;
}

export function endHandling(): void {
  busy = false;
}
