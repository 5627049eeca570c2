/** Random plain values for property tests. */
import fc from "fast-check";
import { TestRef } from "./references.js";

const float16 = (globalThis as { Float16Array?: new (length: number) => ArrayBufferView }).Float16Array;
const classes = [
  Uint8Array,
  Uint8ClampedArray,
  Int8Array,
  Uint16Array,
  Int16Array,
  Uint32Array,
  Int32Array,
  Float32Array,
  Float64Array,
  BigUint64Array,
  BigInt64Array,
  ...(float16 === undefined ? [] : [float16 as unknown as typeof Uint16Array]),
] as const;

/** Typed arrays of all classes, with any bytes, at any offset of their buffers. */
const typedArrays = fc
  .record({
    type: fc.constantFrom(...classes),
    bytes: fc.uint8Array({ maxLength: 96 }),
    skipped: fc.nat(3),
  })
  .map(({ type, bytes, skipped }) => {
    const size = type.BYTES_PER_ELEMENT;
    const length = Math.floor(bytes.length / size);
    const buffer = new ArrayBuffer((length + skipped) * size + 5);
    new Uint8Array(buffer).set(bytes.subarray(0, length * size), skipped * size);
    return new type(buffer, skipped * size, length);
  });

const buffers = fc.uint8Array({ maxLength: 96 }).map((bytes) => bytes.slice().buffer);
const views = fc
  .tuple(buffers, fc.nat(40))
  .map(([buffer, skipped]) => new DataView(buffer, Math.min(skipped, buffer.byteLength)));

const texts = fc.oneof(
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.string({ unit: "grapheme-ascii", maxLength: 80 }),
  // With lone surrogates.
  fc.array(fc.nat(0xffff), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
);

const numbers = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(-0, 127, 128, -1, 2 ** 31 - 1, 2 ** 31, -(2 ** 31)),
);

const leaves = fc.oneof(
  fc.constantFrom(null, undefined, true, false),
  numbers,
  texts,
  fc.oneof(fc.bigInt(), fc.constantFrom(2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n)),
  fc.date({ noInvalidDate: false }),
  typedArrays,
  buffers,
  views,
  fc.nat(255).map((id) => new TestRef(id)),
);

const keys = fc.oneof(texts, fc.constantFrom("__proto__", "constructor", "toString", "then", "0", "length"));

/** Returns an object with these properties, also if one of them has the name `__proto__`. */
function objectOf(entries: readonly (readonly [string, unknown])[], prototype: object | null): object {
  const object = Object.create(prototype) as object;
  for (const [key, value] of entries) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  }
  return object;
}

/** Plain values of every kind, inside of each other. */
export const plainValues: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaves,
    fc.array(tie("value"), { maxLength: 20 }),
    fc.array(numbers, { maxLength: 20 }),
    fc
      .tuple(fc.array(fc.tuple(keys, tie("value")), { maxLength: 20 }), fc.boolean())
      .map(([entries, hasPrototype]) => objectOf(entries, hasPrototype ? Object.prototype : null)),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 5 }).map((entries) => new Map(entries)),
    fc.array(tie("value"), { maxLength: 5 }).map((members) => new Set(members)),
  ),
})).value;
