/**
 * The frame header and the kinds of frames (docs/reference/protocol.md). A frame is 16 bytes of header, a body, and zero bytes up
 * to a multiple of 8; so every frame, and every message in one, starts 8-aligned. Little-endian throughout. What bodies
 * hold is the concern of those who write and read them.
 *
 *   word 0   length in bytes of header and body, padding excluded
 *   word 1   kind (8 bits), flags (8 bits), slot (16 bits)
 *   word 2   a: a lane, or a call
 *   word 3   b: a call, or a number
 */
import type { Writer } from "../../wire/writer.js";

export const HEADER_BYTES = 16;

/** A peer with another version is refused. */
export const PROTOCOL_VERSION = 1;

/** First word of the body of `hello`: "VCRY". */
export const HELLO_MAGIC = 0x59524356;

/** Numbers, not an enum: they are compared in the receive loop. */
export const FrameKind = {
  /** First frame in both directions. */
  hello: 1,
  /** Farewell: what follows is the end of the pipe, and that is no failure. */
  bye: 2,
  /** Opens a lane (a) for messages of one sender to one destination. */
  open: 3,
  /** Binds an interface to the slots of a lane (a), from a first one (slot) on, in a layout (b). */
  bind: 4,
  /** Names an extent (a) that later messages refer to. */
  extent: 5,
  /** A message on a lane (a), with the call that waits for its answer (b; 0: none). */
  message: 6,
  /** The answer to a call (a). */
  reply: 7,
  /** The error that ends a call (a). */
  error: 8,
  /** Messages (b) of a lane (a) consumed; their bytes in the body. */
  credit: 9,
  /** One item of the stream of a call (a). */
  item: 10,
  /** Items (b) of a stream (a) consumed; their bytes in the body. */
  streamCredit: 11,
  /** The end of the stream of a call (a). */
  end: 12,
  /** The caller of a call (b) on a lane (a) no longer waits; slot: why. */
  cancel: 13,
  /** The sender will not use the lane (a) any more. */
  close: 14,
  /** The destination of a lane (a) has ended. */
  gone: 15,
  /** A message of a lane (a) without reply could not be delivered. */
  bounce: 16,
  /** Does the mesh in the body exist? a: number of the question. */
  ask: 17,
  /** The answer (b: 1 yes, 0 no) to question a. */
  tell: 18,
  /** The port in the body is now held by another actor. */
  hold: 19,
  /** An actor that held the port in the body has ended. */
  release: 20,
  /** Bytes of a pipe between two other procs, passed on by this one. */
  relay: 21,
  /** A large block of bytes; belongs to the next message, reply, item or relay. a: 1, it has come in pieces. */
  block: 22,
  /** The receiver has forgotten the lane (a): its number may be used again. */
  closed: 23,
  /** The answer to the binding of a first slot (slot) of a lane (a): go on (b: 0), or the schema is another one (b: 1). */
  bound: 24,
  /** A part of a block of so many bytes (b); other frames may come before the next one. */
  piece: 25,
  /** Where the messages of a lane (a) stand among casts of its sender to the same actor (b: a number); slot: a `Sync`. */
  sync: 32,
  /** Sets up a part (a) of a tree for casts. */
  tree: 33,
  /** All actors of a part (a) of a tree have said by which schema they know its interface. */
  treeReady: 34,
  /** A cast (b) to a part (a) of a tree. */
  cast: 35,
  /** Answers to a cast (b) of actors in a part (a) of a tree. */
  answers: 36,
  /** So many casts (b) have been taken by all actors in a part (a) of a tree. */
  taken: 37,
  /** A proc in a part (a) of a tree cannot be reached any more. */
  treeLost: 38,
  /** A cast without answers to a part (a) of a tree has found no actor at a rank (b). */
  castBounce: 39,
  /** Nobody waits for the answers to a cast (b) to a part (a) of a tree any more; slot: why. */
  castCancel: 40,
  /** Direct messages to the rank (b) will not come any more: casts need not wait for them. */
  castRelease: 41,
  /** What was taken in a part (a) of a tree is to be told at once (b: 0), or the part is not used any more (b: 1). */
  treeFlush: 42,
} as const;

/** What a `sync` frame says. */
export const SyncKind = {
  /** What follows on the lane comes after so many casts. */
  after: 0,
  /** What came before on the lane comes before the cast with this number. */
  mark: 1,
  /** So many casts have passed this place: on the lane that they take. */
  passed: 2,
  /** As `after`; those of them that have not come will not, or come to nobody. */
  without: 3,
  /** Asks the receiver to say, by `credit` for no message, when everything that came before on the lane has been handled. */
  reached: 4,
} as const;

/** Flags of `message`, `reply`, `item` and `error`. */
export const FrameFlag = {
  /** `message`: an extension stands between header and message. */
  extended: 1,
  /** `reply`, `error`, `end`: the credit of the call has been given back already. */
  credited: 2,
  /** `message` to a port: an error, not a value. */
  exception: 4,
  /** `message`, `reply`, `item`: in the protobuf layout. */
  protobuf: 8,
} as const;

/** Rounds up to a multiple of 8. */
export function align8(n: number): number {
  return (n + 7) & ~7;
}

/**
 * Starts a frame at the writer's position, which is 8-aligned between frames. The length is left to `endFrame`.
 * @returns where the frame starts
 */
export function beginFrame(w: Writer, word1: number, a: number, b: number): number {
  const at = w.reserve(HEADER_BYTES);
  const { view } = w;
  view.setUint32(at + 4, word1, true);
  view.setUint32(at + 8, a, true);
  view.setUint32(at + 12, b, true);
  return at;
}

/** Ends the frame that started at `at`: sets its length and pads it. */
export function endFrame(w: Writer, at: number): void {
  w.view.setUint32(at, w.position - at, true);
  if ((w.position & 7) !== 0) writePadding(w);
}

function writePadding(w: Writer): void {
  const size = -w.position & 7;
  const at = w.reserve(size);
  const { bytes } = w;
  for (let i = at; i < at + size; i++) bytes[i] = 0;
}

/** A peer that breaks the protocol; the link is closed with this. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** A copy with memory of its own. (`slice` of a Buffer, which received bytes are, shares it.) */
export function copyBytes(bytes: Uint8Array, start: number, end: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(end - start);
  copy.set(bytes.subarray(start, end));
  return copy;
}
