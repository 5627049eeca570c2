/** Encoded and decoded values are copies: a later change of one of them shows nowhere else. */
import { expect, test } from "vitest";
import { copy, decode, encode } from "./references.js";

const sizes = [1, 10, 64, 65, 500, 2048, 2049, 20_000, 700_000, 3_000_000];

test.each(sizes)("a change of the source after encoding does not show: %i bytes", (size) => {
  const source = new Uint8Array(size).fill(1);
  const encoded = encode({ source, buffer: source.buffer });
  source.fill(2);
  const expected = new Uint8Array(size).fill(1);
  expect(Buffer.compare((decode(encoded) as { source: Uint8Array }).source, expected)).toBe(0);
});

test.each(sizes)("a change of a decoded value shows neither in the bytes nor in other copies: %i bytes", (size) => {
  const encoded = encode([new Uint8Array(size).fill(1), new Uint8Array(size).fill(1).buffer]);
  const [bytes, buffer] = decode(encoded) as [Uint8Array, ArrayBuffer];
  bytes.fill(2);
  new Uint8Array(buffer).fill(2);
  const [again] = decode(encoded) as [Uint8Array];
  expect(Buffer.compare(again, new Uint8Array(size).fill(1))).toBe(0);
});

test.each(sizes)("a change of the bytes after decoding does not show: %i bytes", (size) => {
  const encoded = encode([new Uint8Array(size).fill(1), "x".repeat(size)]);
  const [bytes, text] = decode(encoded) as [Uint8Array, string];
  encoded.fill(0);
  expect(Buffer.compare(bytes, new Uint8Array(size).fill(1))).toBe(0);
  expect(text).toBe("x".repeat(size));
});

test("encoded values keep their bytes while others are encoded", () => {
  const values = sizes.flatMap((size) => ["a", "b"].map((letter) => letter.repeat(size)));
  const encoded = values.map(encode);
  for (const size of sizes) encode("z".repeat(size));
  for (const [i, value] of values.entries()) expect(decode(encoded[i] as Uint8Array)).toBe(value);
});

test("named properties of arrays and properties that are not enumerable are left out, as in JSON", () => {
  const list = Object.assign([1, 2], { index: 5 });
  const hidden = Object.defineProperty({ n: 1 }, "secret", { value: 2 });
  for (const value of [list, hidden, [...("ab".match(/b/) ?? [])]]) {
    expect(copy(value)).toStrictEqual(JSON.parse(JSON.stringify(value)));
  }
  expect(Object.keys(copy(list) as object)).toEqual(["0", "1"]);
});

test("an object that a value contains twice becomes two objects", () => {
  const shared = { n: 1 };
  const [first, second] = copy([shared, shared]) as [typeof shared, typeof shared];
  first.n = 2;
  expect(second).toStrictEqual({ n: 1 });
  expect(shared).toStrictEqual({ n: 1 });
});

test("the memory of a decoded binary value belongs to it alone", () => {
  const [first, second] = copy([new Uint8Array([1]), new Uint8Array([2])]) as [Uint8Array, Uint8Array];
  expect(first.buffer.byteLength).toBe(1);
  expect(first.buffer).not.toBe(second.buffer);
});
