/**
 * Whole messages of the protobuf layout, the same for every codec. As in the lockstep layout, a failure is explained by a
 * second, slower attempt, so that the first one pays nothing for good errors.
 */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Codec } from "../codec.js";
import { CodecError } from "../codec-error.js";
import { CodecRefusal } from "../codec-refusal.js";
import { toCodecError, unexplainedError } from "../explain-error.js";
import { newPage } from "../page.js";
import { ProtobufReader } from "./reader.js";
import { ProtobufWriter } from "./writer.js";

/** A codec with a form that says where it fails. */
interface TraceableCodec<T> extends Codec<T> {
  trace(): Codec<T>;
}

/** Whole messages up to this size are copied to be decoded: cheaper than a view of their own. */
const MAX_COPIED_BYTES = 2048;

const ownWriter = new ProtobufWriter();
const ownReader = new ProtobufReader();
const ownPage = newPage(MAX_COPIED_BYTES);
/** Whether `ownReader` is inside a message: something that is being decoded decodes another one. */
let isReading = false;

export function toProtobuf<T>(codec: TraceableCodec<T>, value: T): Uint8Array {
  // Something that is being encoded may encode another message.
  const w = ownWriter.busy ? new ProtobufWriter(1024) : ownWriter;
  w.busy = true;
  try {
    codec.writeFields(w, value);
    return w.copy(0);
  } catch (error) {
    throw encodingError(codec, value, error);
  } finally {
    w.clear();
    w.depth = 0;
    w.busy = false;
  }
}

export function fromProtobuf<T>(codec: TraceableCodec<T>, bytes: Uint8Array): T {
  if (!(bytes instanceof Uint8Array)) {
    throw new CodecError("decode", codec.name, `expected a Uint8Array, got ${describeValue(bytes)}`);
  }
  const size = bytes.length;
  if (isReading || size > MAX_COPIED_BYTES) {
    const r = new ProtobufReader();
    r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, size);
    return readWholeMessage(codec, r, bytes);
  }
  const copy = ownPage.bytes;
  if (size <= 16) for (let i = 0; i < size; i++) copy[i] = bytes[i] as number;
  else copy.set(bytes);
  ownReader.reset(copy, ownPage.view, 0, size);
  isReading = true;
  try {
    return readWholeMessage(codec, ownReader, bytes);
  } finally {
    isReading = false;
  }
}

function readWholeMessage<T>(codec: TraceableCodec<T>, r: ProtobufReader, bytes: Uint8Array): T {
  const { end } = r;
  try {
    const value = codec.readFields(r, end, undefined);
    if (r.position !== end) throw new CodecRefusal("the message ends too early");
    return value;
  } catch (error) {
    throw decodingError(codec, bytes, error);
  }
}

function encodingError<T>(codec: TraceableCodec<T>, value: T, error: unknown): CodecError {
  if (error instanceof CodecRefusal && error.isFinal) return toCodecError("encode", codec.name, error);
  const w = new ProtobufWriter(1024);
  w.tracing = true;
  try {
    codec.trace().writeFields(w, value);
  } catch (traced) {
    return toCodecError("encode", codec.name, traced);
  }
  return unexplainedError(codec.name, error);
}

function decodingError<T>(codec: TraceableCodec<T>, bytes: Uint8Array, error: unknown): CodecError {
  const r = new ProtobufReader();
  r.tracing = true;
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
  try {
    codec.trace().readFields(r, bytes.length, undefined);
  } catch (traced) {
    return toCodecError("decode", codec.name, traced);
  }
  return toCodecError("decode", codec.name, error);
}
