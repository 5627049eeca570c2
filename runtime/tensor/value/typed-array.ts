/** Maps the types of tensor elements to typed arrays. */
import type { Dtype } from "../../native/tensor-addon.js";
import type { TensorData } from "../argument-types.js";

const arrayClasses = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  bool: Uint8Array,
  complex64: Float32Array,
  complex128: Float64Array,
} as const;

/**
 * Returns a typed array over a buffer.
 *
 * @throws {TypeError} when no typed array can contain the type, which results of some operations have
 */
export function typedArrayOver(dtype: Dtype, buffer: ArrayBuffer): TensorData {
  if (!isDtype(dtype)) {
    throw new TypeError(
      `cannot read the elements of a tensor: expected one of the types ${Object.keys(arrayClasses).join(", ")}, got ${dtype}; ` +
        'convert them, with to("float32") for example',
    );
  }
  return new arrayClasses[dtype](buffer);
}

export function isDtype(name: string): name is Dtype {
  return Object.hasOwn(arrayClasses, name);
}

/** Returns whether a typed array has the class that contains elements of a type. */
export function holdsDtype(view: ArrayBufferView, dtype: Dtype): boolean {
  return view instanceof arrayClasses[dtype];
}

/** Returns the default element type of a typed array, or undefined if no tensor has such elements. */
export function dtypeOf(view: ArrayBufferView): Dtype | undefined {
  const plain = ["float32", "float64", "int8", "uint8", "int16", "int32", "int64"] as const;
  return plain.find((dtype) => view instanceof arrayClasses[dtype]);
}

/** Returns the size of one element in bytes. */
export function elementSize(dtype: Dtype): number {
  return arrayClasses[dtype].BYTES_PER_ELEMENT * (dtype.startsWith("complex") ? 2 : 1);
}

/** Returns the number of elements in a typed array; a fraction if the last one is incomplete. */
export function elementCount(view: ArrayBufferView, dtype: Dtype): number {
  return view.byteLength / elementSize(dtype);
}

/**
 * Makes a typed array with elements of a type.
 *
 * @throws {RangeError} when an integer type cannot represent a value, which a typed array would wrap or turn into 0
 */
export function typedArrayFrom(dtype: Dtype, values: readonly (number | bigint | boolean)[]): TensorData {
  if (dtype === "bool")
    return Uint8Array.from(values, (value) => Number(value !== 0 && value !== 0n && value !== false));
  const bits = integerBits[dtype];
  if (bits === undefined) return (arrayClasses[dtype] as Float32ArrayConstructor).from(values, Number);
  for (const value of values) checkInteger(dtype, bits, value);
  if (dtype === "int64") return BigInt64Array.from(values, BigInt);
  return (arrayClasses[dtype] as Int32ArrayConstructor).from(values, Number);
}

const integerBits: Partial<Record<Dtype, number>> = { int8: 8, uint8: 8, int16: 16, int32: 32, int64: 64 };

function checkInteger(dtype: Dtype, bits: number, value: number | bigint | boolean): void {
  const whole = typeof value !== "number" || Number.isInteger(value) ? BigInt(value) : undefined;
  const fits = dtype === "uint8" ? BigInt.asUintN : BigInt.asIntN;
  if (whole !== undefined && fits(bits, whole) === whole) return;
  throw new RangeError(`cannot make a tensor of ${dtype}: expected integers of ${bits} bits, got ${String(value)}`);
}
