/** Plain values come back as they were. */
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodePlain, encodePlain, type RefWriter } from "../../../runtime/tasks/values/index.js";
import { cases } from "../../profile.js";
import { expectSame } from "./expect-same.js";
import { plainValues } from "./random-values.js";
import { copy, decode, encode, place, refs, TestRef } from "./references.js";

test("every plain value comes back as it was", () => {
  fc.assert(
    fc.property(plainValues, (value) => expectSame(copy(value), value)),
    { numRuns: cases(2000) },
  );
});

describe("a value at a border of the layout comes back as it was", () => {
  test.each<[string, unknown]>([
    ["the integers around one byte", [0, 127, 128, -1, -128, 255, 256]],
    ["the integers around 32 bits", [2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 53, -(2 ** 53)]],
    ["special numbers", [Number.NaN, Infinity, -Infinity, -0, 0, Number.MIN_VALUE, Number.MAX_VALUE]],
    ["a long array of special numbers", [Number.NaN, Infinity, -Infinity, -0, 0, 1, 2, 3, 4.5]],
    ["undefined in an array and an object", { a: undefined, b: [undefined, null] }],
    ["texts of the lengths around the short form", [30, 31, 32, 33].map((units) => "x".repeat(units))],
    ["texts of the lengths around a second byte of length", [127, 128, 16_383, 16_384].map((n) => "é".repeat(n))],
    ["a long text in Latin-1 with a wide end", `${"é".repeat(200)}日`],
    ["a long ASCII text with a wide end", `${"a".repeat(200)}日`],
    ["a short text with a wide end", "abc日"],
    ["a long text in Latin-1", `${"é".repeat(200)}ÿ`],
    ["lone surrogates", ["\ud800", "a\udfff", `${"x".repeat(100)}\ud83d`]],
    ["counts around the short form", [14, 15, 16, 17].map((count) => Array.from({ length: count }, (_, i) => `${i}`))],
    ["an object of 16 properties", Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`k${i}`, i]))],
    ["a property with a long name", { ["x".repeat(200)]: 1, ["日".repeat(200)]: 2, 日本: 3 }],
    ["bigints around 64 bits", [2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n, 0n, -1n]],
    ["a large bigint", -(7n ** 5000n)],
    ["an invalid date", new Date(Number.NaN)],
    ["a map with a map as key", new Map([[new Map([[1, 2]]), new Set([null])]])],
    ["an array of 100,000 texts", Array.from({ length: 100_000 }, (_, i) => `${i}`)],
    ["an array of 100,000 numbers", Array.from({ length: 100_000 }, (_, i) => i / 7)],
    ["8 MiB", new Uint8Array(8 * 1024 * 1024).fill(7)],
    ["an empty ArrayBuffer", new ArrayBuffer(0)],
  ])("%s", (_, value) => expectSame(copy(value), value));
});

test("a value of 256 levels comes back as it was", () => {
  let value: unknown = 1;
  for (let i = 0; i < 256; i++) value = i % 2 === 0 ? [value] : { value };
  expect(copy(value)).toStrictEqual(value);
});

test("a small integer takes one byte, and a short text one more than its units", () => {
  expect(encode(7)).toStrictEqual(Uint8Array.of(7));
  expect(encode("abc")).toHaveLength(4);
});

test("a Buffer comes back as a Uint8Array", () => {
  expectSame(copy(Buffer.from("abc")), new Uint8Array([97, 98, 99]));
});

test("a typed array on shared memory comes back on memory of its own", () => {
  const shared = new Uint16Array(new SharedArrayBuffer(8)).fill(9);
  const copied = copy(shared) as Uint16Array;
  expectSame(copied, new Uint16Array(4).fill(9));
  expect(copied.buffer).toBeInstanceOf(ArrayBuffer);
});

test("bytes in shared memory are decoded into memory of their own", () => {
  const encoded = encode([new Float64Array([1.5, 2.5]), "text"]);
  const shared = new Uint8Array(new SharedArrayBuffer(encoded.length));
  shared.set(encoded);
  const [numbers] = decode(shared) as [Float64Array];
  shared.fill(0);
  expect(numbers).toStrictEqual(new Float64Array([1.5, 2.5]));
  expect(numbers.buffer).toBeInstanceOf(ArrayBuffer);
});

test("built-in objects of another realm come back as those of this one", () => {
  const foreign: unknown = runInNewContext(
    "({ list: [1, [2]], date: new Date(5), map: new Map([[1, new Set([2])]]), bytes: new Uint8Array([3]), buffer: new ArrayBuffer(1) })",
  );
  expectSame(copy(foreign), {
    list: [1, [2]],
    date: new Date(5),
    map: new Map([[1, new Set([2])]]),
    bytes: new Uint8Array([3]),
    buffer: new ArrayBuffer(1),
  });
});

test("properties that are not enumerable, and named properties of arrays, do not travel", () => {
  const object = Object.defineProperty({ a: 1 }, "hidden", { value: 2, enumerable: false });
  expectSame(copy(object), { a: 1 });
  expectSame(copy(Object.assign([1], { name: "x" })), [1]);
});

test("a key `__proto__` is a property like others", () => {
  const value: unknown = JSON.parse('{"__proto__":{"admin":true},"a":1}');
  const copied = copy(value) as object;
  expect(Object.getPrototypeOf(copied)).toBe(Object.prototype);
  expect(Object.keys(copied)).toStrictEqual(["__proto__", "a"]);
  expect((copied as { admin?: boolean }).admin).toBeUndefined();
});

test("references come back as what the caller makes of their bytes", () => {
  expectSame(copy({ ref: new TestRef(7), list: [new TestRef(8)] }), { ref: new TestRef(7), list: [new TestRef(8)] });
});

test("encoding a reference may encode further values", () => {
  const nesting: RefWriter = { isRef: refs.isRef, write: (ref) => encode({ inside: (ref as TestRef).id }) };
  const encoded = encodePlain(["before", new TestRef(3), "after"], place, nesting);
  const seen: unknown[] = [];
  const decoded = decodePlain(encoded, { read: (bytes) => seen.push(decode(bytes)) });
  expect(decoded).toStrictEqual(["before", 1, "after"]);
  expect(seen).toStrictEqual([{ inside: 3 }]);
});

test("the error of a reference is thrown as it is", () => {
  const failing: RefWriter = {
    isRef: refs.isRef,
    write() {
      throw new RangeError("released");
    },
  };
  expect(() => encodePlain([new TestRef(1)], place, failing)).toThrow(new RangeError("released"));
  // The next value is encoded as usual.
  expectSame(copy([1, "a"]), [1, "a"]);
});
