/** The layout, byte for byte, as docs/reference/lockstep-layout.md describes it. */
import { expect, test } from "vitest";
import { type Codec, codec } from "../../runtime/wire/index.js";

/** Bytes as hexadecimal, two digits a byte. */
function bytesOf<T>(of: Codec<T>, value: T): string {
  return [...of.encode(value)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

test("scalars are little-endian values in their slots", () => {
  expect(bytesOf(codec.boolean, true)).toBe("01");
  expect(bytesOf(codec.int32, -2)).toBe("fe ff ff ff");
  expect(bytesOf(codec.uint32, 0xdeadbeef)).toBe("ef be ad de");
  expect(bytesOf(codec.int64, -2n)).toBe("fe ff ff ff ff ff ff ff");
  expect(bytesOf(codec.float32, 1.1)).toBe("cd cc 8c 3f");
  expect(bytesOf(codec.double, 1.5)).toBe("00 00 00 00 00 00 f8 3f");
  expect(bytesOf(codec.date, new Date(1))).toBe("00 00 00 00 00 00 f0 3f");
});

test("a string is a length in its slot, and text in a heap that the header refers to", () => {
  // Header: the heap starts at 5. Slot: 2 units. Chunk: 2 units of Latin-1.
  expect(bytesOf(codec.string, "hé")).toBe("05 00 00 00 02 04 00 00 00 68 e9");
  // A wide chunk is even from the message's start: one byte of padding.
  expect(bytesOf(codec.string, "日")).toBe("05 00 00 00 01 03 00 00 00 00 e5 65");
  expect(bytesOf(codec.string, "")).toBe("05 00 00 00 00");
});

test("booleans and the presence of fields are bits, in the order of the fields", () => {
  const type = codec.object("T", {
    a: codec.boolean,
    b: codec.optional(codec.int32),
    c: codec.nullable(codec.boolean),
    d: codec.uint32,
  });
  // Bits: a is 1, the presence of b is 2, c not null is 4, c is 8. The slot of d follows, and behind it the slot of b.
  expect(bytesOf(type, { a: true, b: 5, c: true, d: 7 })).toBe("0f 07 00 00 00 05 00 00 00");
  expect(bytesOf(type, { a: false, c: null, d: 7 })).toBe("00 07 00 00 00");
});

test("an array is a count and the slots of its elements, and arrays of doubles are aligned", () => {
  expect(bytesOf(codec.array(codec.int32), [1, 2])).toBe("02 01 00 00 00 02 00 00 00");
  expect(bytesOf(codec.array(codec.double), [1.5])).toBe("01 00 00 00 00 00 00 00 00 00 00 00 00 00 f8 3f");
  expect(bytesOf(codec.array(codec.nullable(codec.boolean)), [null, true])).toBe("02 00 01 01");
  expect(bytesOf(codec.array(codec.boolean), new Array(300).fill(false)).slice(0, 14)).toBe("ff 2c 01 00 00");
});

test("maps, sets and records are a count of four bytes and the slots of their entries", () => {
  expect(bytesOf(codec.map(codec.int32, codec.boolean), new Map([[1, true]]))).toBe("01 00 00 00 01 00 00 00 01");
  expect(bytesOf(codec.set(codec.boolean), new Set([true]))).toBe("01 00 00 00 01");
  expect(bytesOf(codec.record(codec.boolean), { a: false })).toBe("0a 00 00 00 01 00 00 00 01 00 02 00 00 00 61");
});

test("enums, unions and oneofs are a number, and the variant follows", () => {
  expect(bytesOf(codec.enumeration("E", ["a", "b"]), "b")).toBe("01");
  const union = codec.union("U", "kind", () => ({
    x: codec.object("", { n: codec.int32 }),
    y: codec.object("", { b: codec.boolean }),
  }));
  expect(bytesOf(union, { kind: "y", b: true })).toBe("01 01");
  expect(
    bytesOf(
      codec.oneof("O", () => ({ n: codec.int32, b: codec.boolean })),
      { case: "n", value: 9 },
    ),
  ).toBe("00 09 00 00 00");
});

test("bytes and typed arrays are a count and aligned data, and the header says where blocks start", () => {
  expect(bytesOf(codec.bytes, Uint8Array.of(7, 8))).toBe("0a 00 00 00 02 00 00 00 07 08");
  expect(bytesOf(codec.int16Array, Int16Array.of(7))).toBe("0a 00 00 00 01 00 00 00 07 00");
  expect(bytesOf(codec.tuple(codec.boolean, codec.int16Array), [true, Int16Array.of(7)])).toBe(
    "12 00 00 00 01 01 00 00 00 00 00 00 00 00 00 00 07 00",
  );
});

test("a large array is a block behind the rest of the message, aligned to 8 bytes", () => {
  const bytes = codec.tuple(codec.bytes, codec.string).encode([new Uint8Array(32 * 1024).fill(9), "a"]);
  const view = new DataView(bytes.buffer);
  expect(view.getUint32(4, true)).toBe(8 + 5 + 5);
  expect(bytes.length).toBe(24 + 32 * 1024);
  expect([...bytes.subarray(18, 26)]).toEqual([0, 0, 0, 0, 0, 0, 9, 9]);
});

test("an object without fields and an empty tuple are one zero byte", () => {
  expect(bytesOf(codec.object("T", {}), {})).toBe("00");
  expect(bytesOf(codec.tuple(), [])).toBe("00");
});
