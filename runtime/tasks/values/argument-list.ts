/**
 * The arguments of a task in one buffer. Each of them is encoded already: as a plain value, with the codec of a schema, or as
 * the result of an earlier task, whose bytes are passed on as they are.
 *
 * Layout: the number of arguments and the length of each of them in bytes, as variable-length integers (LEB128); then the bytes.
 */
import { CodecError } from "../../index.js";
import { MAX_ARGUMENTS, MAX_BYTES } from "./layout.js";

/** One encoded argument. */
export type ArgumentPart = Uint8Array;

/** No arguments. Tasks without any are common, and share the bytes. */
const none = new Uint8Array([0]);

/**
 * Joins encoded arguments.
 *
 * @param label the name of the task
 * @throws RangeError if they are too many or too large
 */
export function encodeArguments(label: string, parts: readonly ArgumentPart[]): Uint8Array {
  const count = parts.length;
  if (count === 0) return none;
  if (count > MAX_ARGUMENTS) {
    throw new RangeError(`cannot run ${label}: expected at most ${MAX_ARGUMENTS} arguments, got ${count}`);
  }
  let size = varintSize(count);
  for (let i = 0; i < count; i++) {
    const { length } = parts[i] as ArgumentPart;
    size += varintSize(length) + length;
  }
  if (size > MAX_BYTES) {
    throw new RangeError(`cannot run ${label}: expected arguments of at most ${MAX_BYTES} bytes, got ${size} bytes`);
  }
  const bytes = new Uint8Array(size);
  let at = writeVarint(bytes, 0, count);
  for (let i = 0; i < count; i++) at = writeVarint(bytes, at, (parts[i] as ArgumentPart).length);
  for (let i = 0; i < count; i++) {
    const part = parts[i] as ArgumentPart;
    // Copying a few bytes takes less time than the native call.
    if (part.length <= 32) for (let j = 0; j < part.length; j++) bytes[at + j] = part[j] as number;
    else bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/**
 * Splits what `encodeArguments` returned. Throws a CodecError if the bytes are anything else.
 *
 * @returns a view of each argument in `bytes`
 */
export function decodeArguments(bytes: Uint8Array): ArgumentPart[] {
  const head = new Head(bytes);
  const count = head.next();
  if (count > MAX_ARGUMENTS || count > bytes.length - head.position) refuse(`it says that there are ${count} of them`);
  const parts = new Array<ArgumentPart>(count);
  // The first pass finds the start of the arguments, which follow the lengths.
  const lengths = head.position;
  for (let i = 0; i < count; i++) head.next();
  let at = head.position;
  head.position = lengths;
  for (let i = 0; i < count; i++) {
    const length = head.next();
    if (length > bytes.length - at) refuse(`argument ${i + 1} ends too early`);
    parts[i] = new Uint8Array(bytes.buffer, bytes.byteOffset + at, length);
    at += length;
  }
  if (at !== bytes.length) refuse("there are more bytes than they need");
  return parts;
}

class Head {
  readonly bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Reads a variable-length integer. */
  next(): number {
    let value = 0;
    let factor = 1;
    for (let i = 0; i < 5; i++) {
      const byte = this.bytes[this.position++];
      if (byte === undefined) refuse("they end too early");
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 0x80;
    }
    return refuse("a length has more than five bytes");
  }
}

function refuse(reason: string): never {
  throw new CodecError("decode", "arguments of a task", reason);
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) size++;
  return size;
}

function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let next = at;
  let rest = value;
  while (rest > 0x7f) {
    bytes[next++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[next++] = rest;
  return next;
}
