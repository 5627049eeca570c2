/** Pointer types whose content is one block: text, bytes and typed arrays. */
import { describeValue } from "../../shared/text/describe-value.js";
import { PathError } from "./error.js";
import { listAt } from "./list.js";
import { type CapnpMessage, type MessageSegment, malformed, wordText } from "./message.js";
import { ListSize, type PointerType } from "./type.js";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** A string. It is copied out of the message. */
export const text: PointerType<string> = {
  kind: "pointer",
  size: ListSize.pointer,
  view(message, segment, at, depth) {
    message.descend(depth);
    const place = listAt(message, segment, at);
    if (place === undefined) return "";
    const { segment: there, start, length, size } = place;
    if (size === ListSize.byte) message.requireBytes(there, start, length);
    if (size !== ListSize.byte || length === 0 || there.bytes[start + length - 1] !== 0) {
      throw malformed(`expected a text at ${wordText(segment, at)}: bytes that end with a zero`);
    }
    try {
      // Decoders refuse shared memory, so the bytes are copied.
      return decoder.decode(there.bytes.slice(start, start + length - 1));
    } catch {
      throw malformed(`the text at ${wordText(segment, at)} is not UTF-8`);
    }
  },
  empty: () => "",
  value: (view) => view,
  write(builder, at, value) {
    if (typeof value !== "string") {
      throw new PathError("write", `invalid string: expected a string, got ${describeValue(value)}`);
    }
    if (!value.isWellFormed()) {
      throw new PathError(
        "write",
        `invalid string: expected well-formed Unicode, got a lone surrogate in ${describeValue(value)}`,
      );
    }
    const bytes = encoder.encode(value);
    const to = builder.allocate(Math.ceil((bytes.byteLength + 1) / 8));
    builder.bytes.set(bytes, to);
    builder.listPointer(at, to, ListSize.byte, bytes.byteLength + 1);
  },
};

/** Bytes: a view of the memory of the message. */
export const data: PointerType<Uint8Array> = {
  kind: "pointer",
  size: ListSize.pointer,
  view: (message, segment, at, depth) => {
    const { bytes, start, length } = block(message, segment, at, depth, 1, ListSize.byte);
    return bytes.subarray(start, start + length);
  },
  empty: () => new Uint8Array(0),
  value: (view) => new Uint8Array(view),
  write(builder, at, value) {
    if (!(value instanceof Uint8Array)) {
      throw new PathError("write", `invalid bytes: expected a Uint8Array, got ${describeValue(value)}`);
    }
    const to = builder.allocate(Math.ceil(value.byteLength / 8));
    builder.bytes.set(value, to);
    builder.listPointer(at, to, ListSize.byte, value.byteLength);
  },
};

function block(message: CapnpMessage, segment: MessageSegment, at: number, depth: number, bytes: number, size: number) {
  message.descend(depth);
  const place = listAt(message, segment, at);
  if (place === undefined) return { bytes: segment.bytes, start: 0, length: 0 };
  if (place.length > 0 && place.size !== size) {
    throw malformed(`expected a list of numbers of ${bytes} bytes at ${wordText(segment, at)}`);
  }
  message.requireBytes(place.segment, place.start, place.length * bytes);
  return { bytes: place.segment.bytes, start: place.start, length: place.length };
}

type TypedArray = ArrayBufferView & { readonly length: number };
interface TypedArrayConstructor<T extends TypedArray> {
  readonly BYTES_PER_ELEMENT: number;
  readonly name: string;
  new (buffer: ArrayBufferLike, byteOffset?: number, length?: number): T;
}

/** Returns the type of a typed array. Views refer to the memory of the message if it is aligned; otherwise they are copies. */
function typedArray<T extends TypedArray>(Class: TypedArrayConstructor<T>): PointerType<T> {
  const width = Class.BYTES_PER_ELEMENT;
  const size = ({ 1: 2, 2: 3, 4: 4, 8: 5 } as const)[width as 1 | 2 | 4 | 8];
  const copyOf = (bytes: Uint8Array, start: number, length: number): T => {
    return new Class(bytes.slice(start, start + length * width).buffer, 0, length);
  };
  return {
    kind: "pointer",
    size: ListSize.pointer,
    view(message, segment, at, depth) {
      const { bytes, start, length } = block(message, segment, at, depth, width, size);
      const offset = bytes.byteOffset + start;
      return offset % width === 0 ? new Class(bytes.buffer, offset, length) : copyOf(bytes, start, length);
    },
    empty: () => new Class(new ArrayBuffer(0)),
    value(view) {
      return copyOf(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), 0, view.length);
    },
    write(builder, at, value) {
      if (!(value instanceof Class)) {
        throw new PathError("write", `invalid ${Class.name}: expected a ${Class.name}, got ${describeValue(value)}`);
      }
      const { buffer, byteOffset, byteLength, length } = value;
      const to = builder.allocate(Math.ceil(byteLength / 8));
      builder.bytes.set(new Uint8Array(buffer, byteOffset, byteLength), to);
      builder.listPointer(at, to, size, length);
    },
  };
}

/** An Int8Array: a view of the memory of the message. */
export const int8Array: PointerType<Int8Array> = typedArray(Int8Array);
/** A Uint8ClampedArray: a view of the memory of the message. */
export const uint8ClampedArray: PointerType<Uint8ClampedArray> = typedArray(Uint8ClampedArray);
/** An Int16Array: a view of the memory of the message. */
export const int16Array: PointerType<Int16Array> = typedArray(Int16Array);
/** A Uint16Array: a view of the memory of the message. */
export const uint16Array: PointerType<Uint16Array> = typedArray(Uint16Array);
/** An Int32Array: a view of the memory of the message. */
export const int32Array: PointerType<Int32Array> = typedArray(Int32Array);
/** A Uint32Array: a view of the memory of the message. */
export const uint32Array: PointerType<Uint32Array> = typedArray(Uint32Array);
/** A BigInt64Array: a view of the memory of the message. */
export const bigInt64Array: PointerType<BigInt64Array> = typedArray(BigInt64Array);
/** A BigUint64Array: a view of the memory of the message. */
export const bigUint64Array: PointerType<BigUint64Array> = typedArray(BigUint64Array);
/** A Float32Array: a view of the memory of the message. */
export const float32Array: PointerType<Float32Array> = typedArray(Float32Array);
/** A Float64Array: a view of the memory of the message. */
export const float64Array: PointerType<Float64Array> = typedArray(Float64Array);
