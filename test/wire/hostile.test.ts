/** Messages made to hurt: what they cost is bounded by their size, and only what an encoder writes is accepted. */
import { expect, test } from "vitest";
import { type Codec, codec } from "../../runtime/wire/index.js";
import { weight } from "./weight.js";

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text.trim().split(/\s+/), (byte) => Number.parseInt(byte, 16));
}

test("counts are compared with what is left before anything is allocated", () => {
  const huge = bytesOf("ff ff ff ff ff 00 00 00 00");
  expect(() => codec.array(codec.int32).decode(huge)).toThrow("the message ends too early");
  expect(() => codec.array(codec.double).decode(huge)).toThrow("cannot decode double[]");
  expect(() => codec.array(codec.object("E", {})).decode(huge)).toThrow("the message ends too early");
  const counts = bytesOf("ff ff ff ff 00 00 00 00");
  expect(() => codec.map(codec.int32, codec.int32).decode(counts)).toThrow("the message ends too early");
  expect(() => codec.set(codec.boolean).decode(counts)).toThrow("the message ends too early");
  expect(() => codec.bytes.decode(bytesOf("08 00 00 00 ff ff ff ff"))).toThrow("a block ends outside the message");
  expect(() => codec.float64Array.decode(bytesOf("08 00 00 00 ff ff ff ff"))).toThrow("a block ends outside");
  expect(() => codec.string.decode(bytesOf("09 00 00 00 ff ff ff ff ff"))).toThrow(
    "there is less text than strings need",
  );
});

test("a byte of a message becomes at most 256 bytes of memory", () => {
  const flags = codec.tuple(...Array.from({ length: 8 }, () => codec.boolean));
  const worst: readonly Codec<unknown>[] = [
    codec.object("Empty", {}),
    flags,
    codec.tuple(),
    codec.array(codec.int32),
    codec.map(codec.int32, codec.int32),
    codec.set(codec.int32),
    codec.record(codec.int32),
    codec.bytes,
    codec.float64Array,
    codec.date,
    codec.nullable(codec.string),
    codec.object("Bits", Object.fromEntries("abcdefgh".split("").map((name) => [name, codec.boolean]))),
  ];
  for (const element of worst) {
    const list = codec.array(element) as Codec<unknown[]>;
    const head = list.encode([]).length;
    const bytes = new Uint8Array(head + 4 + 1000 * element.slot);
    const view = new DataView(bytes.buffer);
    // The header, where there is one, points at the end.
    for (let at = 0; at < head - 1; at += 4) view.setUint32(at, bytes.length, true);
    view.setUint8(head - 1, 255);
    view.setUint32(head, 1000, true);
    const value = list.decode(bytes);
    expect(value.length, element.name).toBe(1000);
    expect(weight(value) / bytes.length, element.name).toBeLessThan(256);
  }
});

test("bits that mean nothing must be zero", () => {
  const type = codec.object("T", { a: codec.boolean, b: codec.optional(codec.boolean) });
  expect(type.decode(bytesOf("03"))).toEqual({ a: true, b: false });
  expect(() => type.decode(bytesOf("08"))).toThrow("cannot decode T: invalid padding bits");
  // The value of a boolean that is not there.
  expect(() => type.decode(bytesOf("04"))).toThrow("cannot decode T: invalid presence bits");
  const nullable = codec.object("T", { a: codec.optional(codec.nullable(codec.int32)) });
  expect(() => nullable.decode(bytesOf("02"))).toThrow("cannot decode T: invalid presence bits");
  expect(() => codec.object("T", {}).decode(bytesOf("01"))).toThrow("cannot decode T: invalid padding bits");
});

test("padding must be zero", () => {
  expect(codec.array(codec.double).decode(bytesOf(`01 ${"00 ".repeat(15)}`))).toEqual([0]);
  expect(() => codec.array(codec.double).decode(bytesOf(`01 00 01 ${"00 ".repeat(13)}`))).toThrow(
    "padding is not zero",
  );
  expect(() => codec.string.decode(bytesOf("05 00 00 00 01 03 00 00 00 01 e5 65"))).toThrow("padding is not zero");
});

test("keys come once", () => {
  const twice = bytesOf("02 00 00 00 01 00 00 00 07 01 00 00 00 08".replace(/(0[78])/g, "$1 00 00 00"));
  expect(() => codec.map(codec.int32, codec.int32).decode(twice)).toThrow("invalid Map: the key 1 is in it twice");
  expect(() => codec.set(codec.int32).decode(bytesOf("02 00 00 00 01 00 00 00 01 00 00 00"))).toThrow(
    "invalid Set: 1 is in it twice",
  );
  const record = bytesOf("0a 00 00 00 02 00 00 00 01 00 01 00 04 00 00 00 61 61".replace("0a", "0c"));
  expect(() => codec.record(codec.boolean).decode(record)).toThrow('the key "a" is in it twice');
});

test("numbers of choices and dates are in range", () => {
  expect(() => codec.enumeration("E", ["a", "b"]).decode(bytesOf("02"))).toThrow(
    "cannot decode E: invalid E: expected a number below 2, got 2",
  );
  expect(() => codec.enumeration("E", [0, 1, 2]).decode(bytesOf("03"))).toThrow("expected a number up to 2, got 3");
  const union = codec.union("U", "kind", () => ({ a: codec.object("", {}) }));
  expect(() => union.decode(bytesOf("01 00"))).toThrow("cannot decode U: invalid U: expected a number below 1, got 1");
  expect(() => codec.date.decode(bytesOf("00 00 00 00 00 00 e0 3f"))).toThrow("expected whole milliseconds");
  expect(() => codec.date.decode(bytesOf("00 00 00 00 00 00 f8 7f"))).toThrow("got NaN");
});

test("what is written in a long form that a short one would do for is refused", () => {
  expect(() => codec.array(codec.boolean).decode(bytesOf("ff 01 00 00 00 00"))).toThrow(
    "invalid length: 1 in the long form",
  );
});

test("heap and blocks lie inside the message, and nothing is left over", () => {
  expect(() => codec.string.decode(bytesOf("04 00 00 00 00"))).toThrow("the string heap starts outside the message");
  expect(() => codec.string.decode(bytesOf("06 00 00 00 00"))).toThrow("the string heap starts outside the message");
  expect(() => codec.string.decode(bytesOf("05 00 00 00 00 02 00 00 00 61"))).toThrow(
    "there is more text than strings need",
  );
  expect(() => codec.string.decode(bytesOf("05 00 00 00 01 04 00 00 00 61 62"))).toThrow(
    "there is more text than strings need",
  );
  expect(() => codec.bytes.decode(bytesOf("07 00 00 00 00 00 00 00"))).toThrow("the blocks start outside the message");
  expect(() => codec.bytes.decode(bytesOf("08 00 00 00 00 00 00 00 00"))).toThrow(
    "there are more blocks than values need",
  );
});

test("`__proto__` is a property like any other", () => {
  const record = codec.record(codec.int32);
  const value = JSON.parse('{ "__proto__": 1, "constructor": 2 }') as Record<string, number>;
  const decoded = record.decode(record.encode(value));
  expect(Object.entries(decoded)).toEqual([
    ["__proto__", 1],
    ["constructor", 2],
  ]);
  expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
  // What every object inherits does not stand in for a property that is missing.
  const type = codec.object("T", { toString: codec.optional(codec.string) });
  expect(Object.keys(type.decode(type.encode({} as never)))).toEqual([]);
});
