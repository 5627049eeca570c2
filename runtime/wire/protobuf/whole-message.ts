/**
 * Encodes and decodes whole messages in the protobuf layout for every codec. As in the lockstep layout, a second, slower
 * attempt finds the field and the reason of a failure.
 */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Codec } from "../codec.js";
import { CodecError } from "../codec-error.js";
import { CodecRefusal } from "../codec-refusal.js";
import { toCodecError, unexplainedError } from "../explain-error.js";
import type { MessageHandles } from "../message-handles.js";
import { newPage } from "../page.js";
import { ProtobufReader } from "./reader.js";
import { ProtobufWriter } from "./writer.js";

/** A codec that has a variant which adds the path to its refusals. */
interface TraceableCodec<T> extends Codec<T> {
  trace(): Codec<T>;
}

/** Messages up to this size in bytes are copied before decoding, which is cheaper than creating a view. */
const MAX_COPIED_BYTES = 2048;

const ownWriter = new ProtobufWriter();
const ownReader = new ProtobufReader();
const ownPage = newPage(MAX_COPIED_BYTES);
/** Whether `ownReader` is decoding a message. A nested message needs another reader. */
let isReading = false;

/** @param handles codecs of handles that are used in place of the registered ones */
export function toProtobuf<T>(codec: TraceableCodec<T>, value: T, handles: MessageHandles | undefined): Uint8Array {
  // The value can have getters that encode another message.
  const w = ownWriter.busy || handles !== undefined ? writerWith(handles) : ownWriter;
  w.busy = true;
  try {
    codec.writeFields(w, value);
    return w.detach();
  } catch (error) {
    throw encodingError(codec, value, error, handles);
  } finally {
    w.clear();
    w.depth = 0;
    w.busy = false;
  }
}

/**
 * Encodes a message without copying its large bytes and typed arrays. The message consists of all parts, one after the other;
 * some of them are memory of the value.
 */
export function toProtobufParts<T>(codec: TraceableCodec<T>, value: T): Uint8Array[] {
  const w = writerWith(undefined);
  w.splice();
  try {
    codec.writeFields(w, value);
    return w.takeParts();
  } catch (error) {
    throw encodingError(codec, value, error, undefined);
  }
}

function writerWith(handles: MessageHandles | undefined): ProtobufWriter {
  const w = new ProtobufWriter(1024);
  w.handles = handles;
  return w;
}

/** @param handles codecs of handles that are used in place of the registered ones */
export function fromProtobuf<T>(codec: TraceableCodec<T>, bytes: Uint8Array, handles: MessageHandles | undefined): T {
  if (!(bytes instanceof Uint8Array)) {
    throw new CodecError("decode", codec.name, `expected a Uint8Array, got ${describeValue(bytes)}`);
  }
  const size = bytes.length;
  if (isReading || size > MAX_COPIED_BYTES || handles !== undefined) {
    const r = new ProtobufReader();
    r.handles = handles;
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
    throw decodingError(codec, bytes, error, r.handles);
  }
}

function encodingError<T>(
  codec: TraceableCodec<T>,
  value: T,
  error: unknown,
  handles: MessageHandles | undefined,
): CodecError {
  if (error instanceof CodecRefusal && error.isFinal) return toCodecError("encode", codec.name, error);
  const w = writerWith(handles);
  w.tracing = true;
  try {
    codec.trace().writeFields(w, value);
  } catch (traced) {
    return toCodecError("encode", codec.name, traced);
  }
  return unexplainedError(codec.name, error);
}

function decodingError<T>(
  codec: TraceableCodec<T>,
  bytes: Uint8Array,
  error: unknown,
  handles: MessageHandles | undefined,
): CodecError {
  const r = new ProtobufReader();
  r.handles = handles;
  r.tracing = true;
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
  try {
    codec.trace().readFields(r, bytes.length, undefined);
  } catch (traced) {
    return toCodecError("decode", codec.name, traced);
  }
  return toCodecError("decode", codec.name, error);
}
