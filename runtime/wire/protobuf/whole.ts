/**
 * Whole messages of the protobuf layout, the same for every codec. As in the lockstep layout, a failure is explained by a
 * second, slower attempt, so that the first one pays nothing for good errors.
 */
import type { Codec } from "../codec.js";
import { CodecError } from "../errors.js";
import { codecError, unexplained } from "../explain.js";
import { newPage } from "../page.js";
import { Refused, show } from "../refused.js";
import { ProtobufReader } from "./reader.js";
import { ProtobufWriter } from "./writer.js";

/** A codec with a form that says where it fails. */
interface Traceable<T> extends Codec<T> {
  trace(): Codec<T>;
}

/** Whole messages up to this size are copied to be decoded: cheaper than a view of their own. */
const copiedBytes = 2048;

const ownWriter = new ProtobufWriter();
const ownReader = new ProtobufReader();
const ownPage = newPage(copiedBytes);
/** Whether `ownReader` is inside a message: something that is being decoded decodes another one. */
let isReading = false;

export function toProtobuf<T>(codec: Traceable<T>, value: T): Uint8Array {
  // Something that is being encoded may encode another message.
  const w = ownWriter.busy ? new ProtobufWriter(1024) : ownWriter;
  w.busy = true;
  try {
    codec.writeFields(w, value);
    return w.copy(0);
  } catch (error) {
    throw notEncoded(codec, value, error);
  } finally {
    w.clear();
    w.depth = 0;
    w.busy = false;
  }
}

export function fromProtobuf<T>(codec: Traceable<T>, bytes: Uint8Array): T {
  if (!(bytes instanceof Uint8Array)) {
    throw new CodecError("decode", codec.name, `expected a Uint8Array, got ${show(bytes)}`);
  }
  const size = bytes.length;
  if (isReading || size > copiedBytes) {
    const r = new ProtobufReader();
    r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, size);
    return read(codec, r, bytes);
  }
  const copy = ownPage.bytes;
  if (size <= 16) for (let i = 0; i < size; i++) copy[i] = bytes[i] as number;
  else copy.set(bytes);
  ownReader.reset(copy, ownPage.view, 0, size);
  isReading = true;
  try {
    return read(codec, ownReader, bytes);
  } finally {
    isReading = false;
  }
}

function read<T>(codec: Traceable<T>, r: ProtobufReader, bytes: Uint8Array): T {
  const { end } = r;
  try {
    const value = codec.readFields(r, end, undefined);
    if (r.position !== end) throw new Refused("the message ends too early");
    return value;
  } catch (error) {
    throw notDecoded(codec, bytes, error);
  }
}

function notEncoded<T>(codec: Traceable<T>, value: T, error: unknown): CodecError {
  if (error instanceof Refused && error.final) return codecError("encode", codec.name, error);
  const w = new ProtobufWriter(1024);
  w.tracing = true;
  try {
    codec.trace().writeFields(w, value);
  } catch (traced) {
    return codecError("encode", codec.name, traced);
  }
  return unexplained(codec.name, error);
}

function notDecoded<T>(codec: Traceable<T>, bytes: Uint8Array, error: unknown): CodecError {
  const r = new ProtobufReader();
  r.tracing = true;
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
  try {
    codec.trace().readFields(r, bytes.length, undefined);
  } catch (traced) {
    return codecError("decode", codec.name, traced);
  }
  return codecError("decode", codec.name, error);
}
