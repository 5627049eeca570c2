/**
 * The memory for incoming bytes. All links of a thread share one buffer, because the bytes of one read are handled
 * before the next read. Only the beginning of an incomplete frame moves to memory of its own. So an idle link needs no
 * buffer, however many links there are.
 */

/** The size of the buffer in bytes, which is more than a Unix socket of Linux holds by default. The operating system allocates the part that was read into. */
export const RECEIVE_BUFFER = 256 * 1024;

/** The number of bytes of a read of a thread that has a core, and between large frames. */
export const SHORT_READ_BYTES = 64 * 1024;

export interface ReceiveMemory {
  /** A Buffer, because readers use its string methods. It is not zeroed: only received bytes are read. */
  readonly bytes: Buffer;
  /** The memory for a short read: the beginning of `bytes`. */
  readonly short: Buffer;
  readonly view: DataView;
}

/** The number of unused buffers that are kept. */
const MAX_IDLE = 16;

/** Windows may fill the memory of a read at any time between the start and the end of the read. */
const readsSynchronously = process.platform !== "win32";

const idle: ReceiveMemory[] = [];
const sharedMemory = newMemory();
/** Whether bytes in the shared buffer are being handled. */
let isSharedInUse = false;

function newMemory(): ReceiveMemory {
  const bytes = Buffer.allocUnsafeSlow(RECEIVE_BUFFER);
  return { bytes, short: bytes.subarray(0, SHORT_READ_BYTES), view: new DataView(bytes.buffer) };
}

/**
 * Returns memory for the next read: the shared buffer, unless the caller runs while that is being handled, as relayed
 * links do.
 */
export function memoryToReadInto(): ReceiveMemory {
  return isSharedInUse || !readsSynchronously ? takeOwnMemory() : sharedMemory;
}

/** Returns a buffer that no other link reads into until it is released. */
export function takeOwnMemory(): ReceiveMemory {
  return idle.pop() ?? newMemory();
}

/** Releases a buffer that `takeOwnMemory` returned. */
export function releaseOwnMemory(memory: ReceiveMemory): void {
  if (idle.length < MAX_IDLE) idle.push(memory);
}

export function isShared(memory: ReceiveMemory): boolean {
  return memory === sharedMemory;
}

/** Starts the handling of bytes in the shared buffer. No link reads into the buffer until `endHandling`. */
export function beginHandling(): void {
  isSharedInUse = true;
}

export function endHandling(): void {
  isSharedInUse = false;
}
