/** The classes of binary values: buffers, and views on buffers. */

/** The part of the constructor of a typed array or a `DataView` that decoding needs. */
type ViewClass = new (buffer: ArrayBuffer) => ArrayBufferView;

/** A class of binary values. Its index in `binaryClasses` is a part of the layout. */
interface BinaryClass {
  readonly name: string;
  /** The number of bytes of an element. */
  readonly bytes: number;
  /** Absent for `ArrayBuffer`, and for a class that this version of Node.js does not have. */
  readonly view?: ViewClass | undefined;
}

/** Node.js 24 has this class, earlier ones do not. */
const float16 = (globalThis as { Float16Array?: ViewClass }).Float16Array;

export const binaryClasses: readonly BinaryClass[] = [
  { name: "ArrayBuffer", bytes: 1 },
  { name: "DataView", bytes: 1, view: DataView },
  { name: "Uint8Array", bytes: 1, view: Uint8Array },
  { name: "Uint8ClampedArray", bytes: 1, view: Uint8ClampedArray },
  { name: "Int8Array", bytes: 1, view: Int8Array },
  { name: "Uint16Array", bytes: 2, view: Uint16Array },
  { name: "Int16Array", bytes: 2, view: Int16Array },
  { name: "Uint32Array", bytes: 4, view: Uint32Array },
  { name: "Int32Array", bytes: 4, view: Int32Array },
  { name: "Float32Array", bytes: 4, view: Float32Array },
  { name: "Float64Array", bytes: 8, view: Float64Array },
  { name: "BigUint64Array", bytes: 8, view: BigUint64Array },
  { name: "BigInt64Array", bytes: 8, view: BigInt64Array },
  { name: "Float16Array", bytes: 2, view: float16 },
];

/** The indices of the classes by their names. */
export const binaryIndices: ReadonlyMap<string, number> = new Map(
  binaryClasses.map(({ name }, index) => [name, index]),
);

/** Returns a copy of bytes in memory of its own, whatever memory they are in. */
export function copyOf(bytes: Uint8Array, from: number, size: number): ArrayBuffer {
  const { buffer, byteOffset } = bytes;
  if (buffer instanceof ArrayBuffer) return buffer.slice(byteOffset + from, byteOffset + from + size);
  const copy = new Uint8Array(size);
  copy.set(new Uint8Array(buffer, byteOffset + from, size));
  return copy.buffer;
}

/** Returns the binary value of a class. The buffer becomes its memory. */
export function binaryOf(kind: BinaryClass, buffer: ArrayBuffer): ArrayBuffer | ArrayBufferView {
  return kind.view === undefined ? buffer : new kind.view(buffer);
}
