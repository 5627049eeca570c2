/** Codecs of bytes and typed arrays. Small ones are copied as they are in memory, large ones are blocks without a copy. */
import type { Codec } from "../codec.js";
import type { ProtoForm } from "../protobuf/proto-form.js";
import { bytesForm, typedArrayForm } from "../protobuf/scalar-forms.js";
import type { Reader } from "../reader.js";
import { invalidValue } from "../traced-part.js";
import type { TypedArray, TypedArrayConstructor } from "../typed-array.js";
import type { Writer } from "../writer.js";
import { ComposedCodec } from "./composed-codec.js";

abstract class BlockCodec<T> extends ComposedCodec<T> {
  readonly slot = 4;

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  protected override holdsItself(what: "text" | "bulk"): boolean {
    return what === "bulk";
  }
}

function checkBytes(value: Uint8Array): void {
  if (!(value instanceof Uint8Array)) throw invalidValue("bytes", "a Uint8Array", value);
}

class BytesCodec extends BlockCodec<Uint8Array> {
  readonly name = "bytes";
  readonly protoForm = bytesForm(checkBytes);

  write(w: Writer, at: number, value: Uint8Array): void {
    checkBytes(value);
    w.putBytes(at, value);
  }

  read(r: Reader, at: number): Uint8Array {
    return r.getBytes(at);
  }

  protected fingerprintText(): string {
    return this.name;
  }
}

class TypedArrayCodec<T extends TypedArray> extends BlockCodec<T> {
  readonly name: string;
  readonly #type: TypedArrayConstructor<T>;
  readonly #element: string;
  readonly protoForm: ProtoForm<T>;

  constructor(type: TypedArrayConstructor<T>, element: string) {
    super();
    this.name = type.name;
    this.#type = type;
    this.#element = element;
    this.protoForm = typedArrayForm(type, (value) => this.#check(value));
  }

  #check(value: T): void {
    if (!(value instanceof this.#type)) throw invalidValue(this.name, `a ${this.name}`, value);
  }

  write(w: Writer, at: number, value: T): void {
    this.#check(value);
    w.putTyped(at, value);
  }

  read(r: Reader, at: number): T {
    return r.getTyped(at, this.#type);
  }

  protected fingerprintText(): string {
    return `${this.#element}array`;
  }
}

/** Bytes: a Uint8Array, never a Buffer. */
export const bytes: Codec<Uint8Array> = new BytesCodec();
/** A Int8Array: integers from -128 to 127. */
export const int8Array: Codec<Int8Array> = new TypedArrayCodec(Int8Array, "int8");
/** A Uint8ClampedArray: integers from 0 to 255. */
export const uint8ClampedArray: Codec<Uint8ClampedArray> = new TypedArrayCodec(Uint8ClampedArray, "uint8clamped");
/** A Int16Array: integers from -2^15 to 2^15 - 1. */
export const int16Array: Codec<Int16Array> = new TypedArrayCodec(Int16Array, "int16");
/** A Uint16Array: integers from 0 to 2^16 - 1. */
export const uint16Array: Codec<Uint16Array> = new TypedArrayCodec(Uint16Array, "uint16");
/** A Int32Array: integers from -2^31 to 2^31 - 1. */
export const int32Array: Codec<Int32Array> = new TypedArrayCodec(Int32Array, "int32");
/** A Uint32Array: integers from 0 to 2^32 - 1. */
export const uint32Array: Codec<Uint32Array> = new TypedArrayCodec(Uint32Array, "uint32");
/** A BigInt64Array: integers from -2^63 to 2^63 - 1. */
export const bigInt64Array: Codec<BigInt64Array> = new TypedArrayCodec(BigInt64Array, "bigint64");
/** A BigUint64Array: integers from 0 to 2^64 - 1. */
export const bigUint64Array: Codec<BigUint64Array> = new TypedArrayCodec(BigUint64Array, "biguint64");
/** A Float32Array: single-precision numbers. */
export const float32Array: Codec<Float32Array> = new TypedArrayCodec(Float32Array, "float32");
/** A Float64Array: doubles. */
export const float64Array: Codec<Float64Array> = new TypedArrayCodec(Float64Array, "float64");
