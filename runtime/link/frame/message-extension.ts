/**
 * The extension of a message stands between header and message. It holds the rank of the receiver in the addressed slice, a
 * deadline, the trace, the key, and the actors that wait for the answer. Most messages have no extension.
 *
 *   u32 size in bytes, a multiple of 8 · u32 rank · u32 extent · u32 timeout in ms, 0: none
 *   u32 × 4 trace, highest first, 0: none · u32 × 2 span of the sender · u32 flags of the trace
 *   u32 size of the key in bytes, 0: none
 *   then u32 × 2 for each actor of the call chain, outermost first
 *   then the key in UTF-8, and zeros up to a multiple of 8
 */
import type { Reader } from "../../wire/reader.js";
import type { Writer } from "../../wire/writer.js";
import { type ActorAddress, AGENT_MESH, ROOT_MESH } from "../address.js";
import { TraceContext } from "../trace-context.js";
import { ProtocolError } from "./frame.js";

const FIXED_BYTES = 48;
const CHAIN_TOKEN_BYTES = 8;
const KEY_SIZE_AT = 44;

/** The extent that stands for the mesh as it was spawned; the rank is then the actor's own. */
export const WHOLE_MESH = 0;

export interface MessageExtension {
  /** The rank of the receiver in the addressed slice. */
  readonly rank: number;
  /** A number that an `extent` frame has assigned, or `WHOLE_MESH` for none. */
  readonly extent: number;
  /** The time left, in milliseconds, rounded up, or 0 without a deadline. */
  readonly timeout: number;
  /** Undefined if the message starts a new trace. */
  readonly trace: TraceContext | undefined;
  /** The actors that wait for the answer, two words each, outermost first. */
  readonly chain: readonly number[];
  /** The key that the receiver was chosen by. Undefined or absent: the sender has named the receiver itself. */
  readonly key?: string | undefined;
}

export const emptyChain: readonly number[] = [];

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the size of the encoded extension in bytes, 0 without an extension. */
export function extensionSize(extension: MessageExtension | undefined): number {
  if (extension === undefined) return 0;
  const { chain, key } = extension;
  return FIXED_BYTES + chain.length * 4 + (key === undefined ? 0 : paddedSize(Buffer.byteLength(key)));
}

function paddedSize(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

export function writeExtension(w: Writer, extension: MessageExtension): void {
  const { chain, trace, key } = extension;
  const size = extensionSize(extension);
  const at = w.reserve(size);
  const { view } = w;
  view.setUint32(at, size, true);
  view.setUint32(at + 4, extension.rank, true);
  view.setUint32(at + 8, extension.extent, true);
  view.setUint32(at + 12, extension.timeout, true);
  writeTrace(view, at + 16, trace);
  for (let i = 0; i < chain.length; i++) view.setUint32(at + FIXED_BYTES + i * 4, chain[i]!, true);
  if (key !== undefined) writeKey(w, at, at + FIXED_BYTES + chain.length * 4, at + size, key);
}

function writeKey({ view, bytes }: Writer, at: number, keyAt: number, end: number, key: string): void {
  const { written } = encoder.encodeInto(key, bytes.subarray(keyAt, end));
  view.setUint32(at + KEY_SIZE_AT, written, true);
  bytes.fill(0, keyAt + written, end);
}

/**
 * Reads the extension at the beginning of the message that `r` was set to, and moves `r` to what follows.
 * @throws ProtocolError if the size of the extension or its key is invalid
 */
export function readExtension(r: Reader): MessageExtension {
  const { bytes, view, position: start, end: limit, blocks } = r;
  const size = limit - start >= FIXED_BYTES ? view.getUint32(start, true) : 0;
  if (size < FIXED_BYTES || size % CHAIN_TOKEN_BYTES !== 0 || size > limit - start) {
    throw new ProtocolError(`cannot read message: invalid extension of ${size} bytes`);
  }
  const keySize = view.getUint32(start + KEY_SIZE_AT, true);
  if (paddedSize(keySize) > size - FIXED_BYTES) {
    throw new ProtocolError(`cannot read message: invalid key of ${keySize} bytes in an extension of ${size}`);
  }
  const keyAt = start + size - paddedSize(keySize);
  const chain: number[] = [];
  for (let at = start + FIXED_BYTES; at < keyAt; at += 4) chain.push(view.getUint32(at, true));
  const key = keySize === 0 ? undefined : readKey(bytes.subarray(keyAt, keyAt + keySize));
  r.reset(bytes, view, start + size, limit, blocks);
  return {
    rank: view.getUint32(start + 4, true),
    extent: view.getUint32(start + 8, true),
    timeout: view.getUint32(start + 12, true),
    trace: readTrace(view, start + 16),
    chain: chain.length === 0 ? emptyChain : chain,
    key,
  };
}

function readKey(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ProtocolError(`cannot read message: expected a key in UTF-8, got ${bytes.length} other bytes`);
  }
}

/** The size of an encoded trace in bytes. */
export const TRACE_BYTES = 32;

export function writeTrace(view: DataView, at: number, trace: TraceContext | undefined): void {
  if (trace === undefined) {
    for (let i = at; i < at + TRACE_BYTES; i += 4) view.setUint32(i, 0, true);
    return;
  }
  const { a, b, c, d, high, low, flags } = trace;
  view.setUint32(at, a, true);
  view.setUint32(at + 4, b, true);
  view.setUint32(at + 8, c, true);
  view.setUint32(at + 12, d, true);
  view.setUint32(at + 16, high, true);
  view.setUint32(at + 20, low, true);
  view.setUint32(at + 24, flags, true);
  view.setUint32(at + 28, 0, true);
}

export function readTrace(view: DataView, at: number): TraceContext | undefined {
  const word = (index: number): number => view.getUint32(at + index * 4, true);
  const [a, b, c, d] = [word(0), word(1), word(2), word(3)];
  return (a | b | c | d) === 0 ? undefined : new TraceContext(a, b, c, d, word(4), word(5), word(6) & 0xff);
}

/**
 * Returns two words that identify an actor in a call chain. Mesh ids are 64 random bits, so these words are as unique
 * as the address. Agents and roots have the same mesh id in all procs, so their words are derived from the id of the
 * proc.
 */
export function chainToken({ proc, mesh, rank }: ActorAddress): readonly [number, number] {
  const id = mesh === AGENT_MESH || mesh === ROOT_MESH ? proc ^ mesh : mesh;
  return [(Number(id & 0xffff_ffffn) + rank) >>> 0, Number(id >> 32n)];
}

/** Returns whether an actor waits, directly or not, for the answer to a message with this chain. */
export function isInChain(chain: readonly number[], token: readonly [number, number]): boolean {
  for (let i = 0; i < chain.length; i += 2) {
    if (chain[i] === token[0] && chain[i + 1] === token[1]) return true;
  }
  return false;
}
