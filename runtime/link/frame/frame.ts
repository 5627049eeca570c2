/**
 * The frame header and the kinds of frames (docs/reference/protocol.md). A frame is 16 bytes of header, a body, and zero bytes up
 * to a multiple of 8, so that every frame, and every message in a frame, starts 8-aligned. All numbers are little-endian. The files
 * that write and read the bodies define their contents.
 *
 *   word 0   length in bytes of header and body, padding excluded
 *   word 1   kind (8 bits), flags (8 bits), slot (16 bits)
 *   word 2   a: a lane, or a call
 *   word 3   b: a call, or a number
 */
import type { Writer } from "../../wire/writer.js";

export const HEADER_BYTES = 16;

/** The version of the protocol. A peer with another version is refused. */
export const PROTOCOL_VERSION = 1;

/** The first word of the body of `hello`: "VCRY". */
export const HELLO_MAGIC = 0x59524356;

/** The kinds of frames. `a`, `b` and `slot` are the fields of the header. */
export const FrameKind = {
  /** The first frame in each direction. */
  hello: 1,
  /** The last frame: the end of the pipe that follows is not a failure. */
  bye: 2,
  /** Opens a lane (a) for the messages of one sender to one destination. */
  open: 3,
  /** Binds an interface to slots of a lane (a), beginning with a first slot (slot), in a layout (b). */
  bind: 4,
  /** Assigns a number (a) to an extent that later messages refer to. */
  extent: 5,
  /** A message on a lane (a), with the number of the call that waits for the answer (b), or 0 for none. */
  message: 6,
  /** The answer to a call (a). */
  reply: 7,
  /** The error that ends a call (a). */
  error: 8,
  /** The receiver has consumed messages (b) of a lane (a). The body holds the number of their bytes. */
  credit: 9,
  /** One item of the stream of a call (a). */
  item: 10,
  /** The consumer has taken items (b) of a stream (a). The body holds the number of their bytes. */
  streamCredit: 11,
  /** The end of the stream of a call (a). */
  end: 12,
  /** The caller of a call (b) on a lane (a) no longer waits, for a reason (slot). */
  cancel: 13,
  /** The sender does not use the lane (a) any more. */
  close: 14,
  /** The destination of a lane (a) has ended. */
  gone: 15,
  /** A message on a lane (a) that expects no reply could not be delivered. */
  bounce: 16,
  /** Asks whether the mesh in the body exists. The number of the question is a. */
  ask: 17,
  /** The answer (b: 1 for yes, 0 for no) to the question a. */
  tell: 18,
  /** An actor now holds the port in the body. */
  hold: 19,
  /** An actor that held the port in the body has ended. */
  release: 20,
  /** Bytes of a pipe between two other procs, which this proc forwards. */
  relay: 21,
  /** A large block of bytes of the next message, reply, item or relay. If a is 1, the block has come in pieces. */
  block: 22,
  /** The receiver has closed the lane (a), whose number may be used again. */
  closed: 23,
  /**
   * The answer to the binding of a first slot (slot) of a lane (a): the sender can go on (b: 0), or the receiver has
   * another schema (b: 1).
   */
  bound: 24,
  /** A piece of a block of b bytes in all. Other frames may come between two pieces. */
  piece: 25,
  /**
   * The place of the messages of a lane (a) among the casts of their sender to the same actor (b: a number of casts).
   * The slot is one of `SyncKind`.
   */
  sync: 32,
  /** Sets up a part (a) of a broadcast tree. */
  tree: 33,
  /** All actors in a part (a) of a tree have reported their schema of the interface. */
  treeReady: 34,
  /** A cast (b) to a part (a) of a tree. */
  cast: 35,
  /** Answers of actors in a part (a) of a tree to a cast (b). */
  answers: 36,
  /** All actors in a part (a) of a tree have received b casts. */
  taken: 37,
  /** A proc in a part (a) of a tree cannot be reached any more. */
  treeLost: 38,
  /** A cast that expects no answers to a part (a) of a tree could not be delivered at a rank (b). */
  castBounce: 39,
  /** The caller of a cast (b) to a part (a) of a tree no longer waits, for a reason (slot). */
  castCancel: 40,
  /** No more direct messages to the rank (b) will come, so that casts need not wait for them. */
  castRelease: 41,
  /**
   * Asks a part (a) of a tree to report at once how many casts it has received (b: 0), or says that the part is not
   * used any more (b: 1).
   */
  treeFlush: 42,
} as const;

/** The meanings of a `sync` frame. */
export const SyncKind = {
  /** The messages that follow on the lane come after b casts. */
  after: 0,
  /** The messages that came before on the lane come before the cast with the number b. */
  mark: 1,
  /** On the lane that carries the casts: b casts have come before this place. */
  passed: 2,
  /** The same as `after`, but casts among the b that have not come yet will not be delivered any more. */
  without: 3,
  /**
   * Asks the receiver to confirm, by a `credit` frame for no message, that everything that came before on the lane has
   * been handled.
   */
  reached: 4,
} as const;

/** The flags of `message`, `reply`, `item` and `error` frames. */
export const FrameFlag = {
  /** `message`: an extension precedes the message. */
  extended: 1,
  /** `reply`, `error`, `end`: the credit of the call has already been returned. */
  credited: 2,
  /** `message` to a port: the body is an error, not a value. */
  exception: 4,
  /** `message`, `reply`, `item`: the body is in the protobuf layout. */
  protobuf: 8,
} as const;

/** Rounds up to the next multiple of 8. */
export function align8(n: number): number {
  return (n + 7) & ~7;
}

/**
 * Starts a frame at the writer's position, which is 8-aligned between frames. `endFrame` sets the length.
 * @returns the offset at which the frame starts
 */
export function beginFrame(w: Writer, word1: number, a: number, b: number): number {
  const at = w.reserve(HEADER_BYTES);
  const { words } = w;
  const first = at >> 2;
  words[first + 1] = word1;
  words[first + 2] = a;
  words[first + 3] = b;
  return at;
}

/** Ends the frame that starts at `at`: sets its length and pads it to a multiple of 8 bytes. */
export function endFrame(w: Writer, at: number): void {
  w.words[at >> 2] = w.position - at;
  if ((w.position & 7) !== 0) writePadding(w);
}

function writePadding(w: Writer): void {
  const size = -w.position & 7;
  const at = w.reserve(size);
  const { bytes } = w;
  for (let i = at; i < at + size; i++) bytes[i] = 0;
}

/** Thrown when a peer breaks the protocol. The link is closed with this error. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** Returns a copy that has memory of its own. `slice` of a Buffer, in which received bytes are, would share the memory. */
export function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}
