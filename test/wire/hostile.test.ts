/** Hostile messages: their cost is bounded by their size, and only bytes that an encoder can write are accepted. */
import { expect, test } from "vitest";
import { type Codec, codec, Reader } from "../../runtime/wire/index.js";
import { weight } from "./memory-weight.js";

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text.trim().split(/\s+/), (byte) => Number.parseInt(byte, 16));
}

test("counts are compared with the remaining bytes before memory is allocated", () => {
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

test("decoding takes at most 256 bytes of memory for each byte of the message", () => {
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

test("unused bits must be zero", () => {
  const type = codec.object("T", { a: codec.boolean, b: codec.optional(codec.boolean) });
  expect(type.decode(bytesOf("03"))).toEqual({ a: true, b: false });
  expect(() => type.decode(bytesOf("08"))).toThrow("cannot decode T: invalid padding bits");
  // This bit is the value of an absent boolean.
  expect(() => type.decode(bytesOf("04"))).toThrow("cannot decode T: invalid presence bits");
  const nullable = codec.object("T", { a: codec.optional(codec.nullable(codec.int32)) });
  expect(() => nullable.decode(bytesOf("02"))).toThrow("cannot decode T: invalid presence bits");
  expect(() => codec.object("T", {}).decode(bytesOf("01"))).toThrow("cannot decode T: invalid padding bits");
});

test("padding bytes must be zero", () => {
  expect(codec.array(codec.double).decode(bytesOf(`01 ${"00 ".repeat(15)}`))).toEqual([0]);
  expect(() => codec.array(codec.double).decode(bytesOf(`01 00 01 ${"00 ".repeat(13)}`))).toThrow(
    "padding is not zero",
  );
  expect(() => codec.string.decode(bytesOf("05 00 00 00 01 03 00 00 00 01 e5 65"))).toThrow("padding is not zero");
});

test("duplicate keys and elements are refused", () => {
  const twice = bytesOf("02 00 00 00 01 00 00 00 07 01 00 00 00 08".replace(/(0[78])/g, "$1 00 00 00"));
  expect(() => codec.map(codec.int32, codec.int32).decode(twice)).toThrow("invalid Map: the key 1 is in it twice");
  expect(() => codec.set(codec.int32).decode(bytesOf("02 00 00 00 01 00 00 00 01 00 00 00"))).toThrow(
    "invalid Set: 1 is in it twice",
  );
  const record = bytesOf("0a 00 00 00 02 00 00 00 01 00 01 00 04 00 00 00 61 61".replace("0a", "0c"));
  expect(() => codec.record(codec.boolean).decode(record)).toThrow('the key "a" is in it twice');
});

test("enum, union and date values out of range are refused", () => {
  expect(() => codec.enumeration("E", ["a", "b"]).decode(bytesOf("02"))).toThrow(
    "cannot decode E: invalid E: expected a number below 2, got 2",
  );
  expect(() => codec.enumeration("E", [0, 1, 2]).decode(bytesOf("03"))).toThrow("expected a number up to 2, got 3");
  const union = codec.union("U", "kind", () => ({ a: codec.object("", {}) }));
  expect(() => union.decode(bytesOf("01 00"))).toThrow("cannot decode U: invalid U: expected a number below 1, got 1");
  expect(() => codec.date.decode(bytesOf("00 00 00 00 00 00 e0 3f"))).toThrow("expected whole milliseconds");
  expect(() => codec.date.decode(bytesOf("00 00 00 00 00 00 f8 7f"))).toThrow("got NaN");
});

test("a length in the long form is refused if the short form is sufficient", () => {
  expect(() => codec.array(codec.boolean).decode(bytesOf("ff 01 00 00 00 00"))).toThrow(
    "invalid length: 1 in the long form",
  );
});

test("the string heap and the blocks must lie inside the message, and no bytes may be left over", () => {
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

test("a string must not cross the end of a text chunk, and a chunk must have the right size", () => {
  const pair = codec.tuple(codec.string, codec.string);
  // The place of the heap, the lengths, then chunks: the size times 2, and the text.
  const read = (lengths: string, heap: string) => pair.decode(bytesOf(`06 00 00 00 ${lengths} ${heap}`));
  expect(read("02 01", "06 00 00 00 61 62 63")).toEqual(["ab", "c"]);
  expect(read("02 01", "04 00 00 00 61 62 02 00 00 00 63")).toEqual(["ab", "c"]);
  expect(read("00 01", "02 00 00 00 63")).toEqual(["", "c"]);
  expect(read("00 00", "")).toEqual(["", ""]);
  expect(() => read("02 02", "06 00 00 00 61 62 63 02 00 00 00 64")).toThrow(
    "[1]: a string crosses the end of a chunk of text",
  );
  for (const heap of ["00 00 00 00", "00 00 00 00 02 00 00 00 61", "02 00 00 00 61 02 00 00 00 62"])
    expect(() => read("02 00", heap)).toThrow("[0]: a chunk of text has the wrong size");
  for (const heap of ["", "04", "04 00", "04 00 00"])
    expect(() => read("02 00", heap)).toThrow("[0]: there is less text than strings need");
  for (const heap of ["04 00 00 00", "04 00 00 00 61", "05 00 00 00 61 62 63"])
    expect(() => read("02 00", heap)).toThrow("[0]: a chunk of text ends outside the message");
  expect(() => read("01 00", "04 00 00 00 61 62")).toThrow("there is more text than strings need");
  expect(() => read("02 00", "04 00 00 00 61 62 00")).toThrow("there is more text than strings need");
});

test("a chunk of up to 8192 units may hold many strings, and a longer chunk only one", () => {
  const pair = codec.tuple(codec.string, codec.string);
  const read = (lengths: readonly [number, number], size: number) => {
    const bytes = new Uint8Array(4 + 2 + 8 + 4 + size).fill(0x61);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, 14, true);
    for (const [i, length] of lengths.entries()) {
      view.setUint8(4 + i, 255);
      view.setUint32(6 + i * 4, length, true);
    }
    view.setUint32(14, size * 2, true);
    return pair.decode(bytes).map(({ length }) => length);
  };
  expect(read([8192 - 255, 255], 8192)).toEqual([8192 - 255, 255]);
  expect(() => read([8193 - 255, 255], 8193)).toThrow("a chunk of text has the wrong size");
});

test("an empty array needs no padding", () => {
  const both = codec.tuple(codec.boolean, codec.float64Array, codec.boolean);
  const bytes = both.encode([true, new Float64Array(0), true]);
  expect([...bytes]).toEqual([9, 0, 0, 0, 3, 0, 0, 0, 0]);
  expect(both.decode(bytes)).toEqual([true, new Float64Array(0), true]);
});

test("a refused message does not affect the decoding of the next message", () => {
  const good = codec.bytes.encode(Uint8Array.of(1, 2));
  const flag = codec.boolean.encode(true);
  for (const bad of ["05 00 00 00 01 04 00 00 00 61 62", "09 00 00 00 ff ff ff ff ff", "05 00 00 00 01"]) {
    expect(() => codec.string.decode(bytesOf(bad))).toThrow("cannot decode string");
    expect(codec.bytes.decode(good)).toEqual(Uint8Array.of(1, 2));
    expect(() => codec.string.decode(bytesOf(bad))).toThrow("cannot decode string");
    expect(codec.boolean.decode(flag)).toBe(true);
  }
});

test("`__proto__` is an ordinary key of a record, and inherited properties are not encoded", () => {
  const record = codec.record(codec.int32);
  const value = JSON.parse('{ "__proto__": 1, "constructor": 2 }') as Record<string, number>;
  const decoded = record.decode(record.encode(value));
  expect(Object.entries(decoded)).toEqual([
    ["__proto__", 1],
    ["constructor", 2],
  ]);
  expect(Object.getPrototypeOf(decoded)).toBe(Object.prototype);
  // An inherited property does not replace a missing one.
  const type = codec.object("T", { toString: codec.optional(codec.string) });
  expect(Object.keys(type.decode(type.encode({} as never)))).toEqual([]);
});

test("a message with text is refused if it is shorter than its slot, or if its heap starts elsewhere", () => {
  const begin = (text: string, size: number) => {
    const bytes = bytesOf(text);
    const r = new Reader();
    r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
    return r.beginText(size);
  };
  expect(begin("05 00 00 00 00", 5)).toBe(4);
  expect(() => begin("05 00 00 00", 5)).toThrow("it takes at least 5 bytes, got 4");
  for (const heap of ["04", "00", "06"]) {
    expect(() => begin(`${heap} 00 00 00 00`, 5)).toThrow("the string heap starts outside the message");
  }
});
