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
const MAX_IDLE = 16;

/** Windows fills the memory that a read was started with whenever it likes, and not while the read is handled. */
const readsSynchronously = process.platform !== "win32";

const idle: ReceiveMemory[] = [];
const sharedMemory = newMemory();
/** What is in the shared memory is being handled. */
let isSharedInUse = false;

function newMemory(): ReceiveMemory {
  const bytes = Buffer.allocUnsafeSlow(RECEIVE_BUFFER);
  return { bytes, view: new DataView(bytes.buffer) };
}

/** Memory to read into next: the shared one unless the caller is called by what handles it, as relayed links are. */
export function memoryToReadInto(): ReceiveMemory {
  return isSharedInUse || !readsSynchronously ? takeOwnMemory() : sharedMemory;
}

/** Memory that nobody else reads into, until it is released. */
export function takeOwnMemory(): ReceiveMemory {
  return idle.pop() ?? newMemory();
}

/** Of one's own: it is not needed any more. */
export function releaseOwnMemory(memory: ReceiveMemory): void {
  if (idle.length < MAX_IDLE) idle.push(memory);
}

export function isShared(memory: ReceiveMemory): boolean {
  return memory === sharedMemory;
}

/** What stands in the shared memory is being handled from now on: nobody else reads into it. */
export function beginHandling(): void {
  isSharedInUse = true;
}

export function endHandling(): void {
  isSharedInUse = false;
}
