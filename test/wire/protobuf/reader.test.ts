/** The reader as generated code uses it: no method reads past the end of the message. */
import { describe, expect, test } from "vitest";
import { CodecRefusal } from "../../../runtime/wire/codec-refusal.js";
import { codec, ProtobufReader } from "../../../runtime/wire/index.js";
import { hex } from "./message-bytes.js";

/** A reader of the first `size` of these bytes, with other messages before and behind. */
function readerOf(bytes: Uint8Array, size = bytes.length): ProtobufReader {
  const memory = new Uint8Array(bytes.length + 32).fill(0x7f);
  memory.set(bytes, 3);
  const r = new ProtobufReader();
  r.reset(memory, new DataView(memory.buffer), 3, 3 + size);
  return r;
}

describe("numbers of a fixed size", () => {
  test.each<[string, (r: ProtobufReader) => unknown, string, unknown]>([
    ["fixed32", (r) => r.fixed32(), "fe ff ff ff", 2 ** 32 - 2],
    ["sfixed32", (r) => r.sfixed32(), "fe ff ff ff", -2],
    ["float", (r) => r.float(), "00 00 80 3f", 1],
    ["double", (r) => r.double(), "00 00 00 00 00 00 f0 3f", 1],
    ["fixed64", (r) => r.fixed64(), "fe ff ff ff ff ff ff ff", 2n ** 64n - 2n],
    ["sfixed64", (r) => r.sfixed64(), "fe ff ff ff ff ff ff ff", -2n],
  ])("%s is read if all its bytes are present, and refused otherwise", (_, read, text, value) => {
    const bytes = hex(text);
    for (let size = 0; size < bytes.length; size++)
      expect(() => read(readerOf(bytes, size))).toThrow("the message ends too early");
    const r = readerOf(bytes);
    expect(read(r)).toBe(value);
    expect(r.position).toBe(r.end);
  });
});

describe("varints", () => {
  const most = "ff ff ff ff ff ff ff ff ff 01";
  test.each<[string, (r: ProtobufReader) => unknown, readonly (readonly [string, unknown])[]]>([
    [
      "uint32",
      (r) => r.uint32(),
      [
        ["00", 0],
        ["7f", 127],
        ["80 01", 128],
        ["ff ff ff ff 0f", 2 ** 32 - 1],
      ],
    ],
    [
      "int32",
      (r) => r.int32(),
      [
        ["05", 5],
        [most, -1],
        ["80 80 80 80 f8 ff ff ff ff 01", -(2 ** 31)],
      ],
    ],
    [
      "sint32",
      (r) => r.sint32(),
      [
        ["01", -1],
        ["02", 1],
        ["ff ff ff ff 0f", -(2 ** 31)],
      ],
    ],
    [
      "bool",
      (r) => r.bool(),
      [
        ["00", false],
        ["02", true],
        ["80 80 80 80 10", true],
        ["80 00", false],
      ],
    ],
    [
      "uint64",
      (r) => r.uint64(),
      [
        ["80 80 80 80 10", 2n ** 32n],
        ["80 01", 128n],
        [most, 2n ** 64n - 1n],
      ],
    ],
    [
      "int64",
      (r) => r.int64(),
      [
        [most, -1n],
        ["05", 5n],
      ],
    ],
    [
      "sint64",
      (r) => r.sint64(),
      [
        ["80 80 80 80 20", 2n ** 32n],
        [most, -(2n ** 63n)],
        ["01", -1n],
      ],
    ],
  ])("%s is read from any number of bytes", (_, read, all) => {
    for (const [before] of all) {
      for (const [text, value] of all) {
        // An earlier message has no effect.
        const r = readerOf(hex(before + text));
        read(r);
        expect(read(r)).toBe(value);
        expect(r.position).toBe(r.end);
      }
    }
  });

  test("with more than ten bytes or without an end are refused", () => {
    expect(() => readerOf(hex(`${"ff".repeat(10)} 01`)).int64()).toThrow("it has more than 10 bytes");
    for (let size = 2; size < 10; size++)
      expect(() => readerOf(hex("ff".repeat(10)), size).int64()).toThrow("the message ends too early");
    expect(() => readerOf(hex("ff ff ff ff 1f")).tag()).toThrow("it has more than 32 bits");
    expect(readerOf(hex("ff ff ff ff 0f")).tag()).toBe(2 ** 32 - 1);
  });
});

test("bytes and strings must end before the end of the message", () => {
  for (const read of [
    (r: ProtobufReader) => r.getBytes(),
    (r: ProtobufReader) => r.string(),
    (r: ProtobufReader) => r.clamped(),
  ]) {
    for (let size = 1; size < 4; size++)
      expect(() => read(readerOf(hex("03 61 62 63"), size))).toThrow("a length goes past the end of the message");
  }
  expect(readerOf(hex("03 61 62 63")).getBytes()).toEqual(hex("61 62 63"));
  expect(readerOf(hex("03 61 62 63")).clamped()).toEqual(Uint8ClampedArray.of(0x61, 0x62, 0x63));
  expect(readerOf(hex("03 61 62 63")).string()).toBe("abc");
  expect(() => readerOf(hex("01 ff")).string()).toThrow("invalid string: expected UTF-8");
});

test("a message must end where its last field ends", () => {
  const point = codec.object("Point", { x: codec.int32 });
  expect(readerOf(hex("02 08 05")).message(point)).toEqual({ x: 5 });
  expect(() => readerOf(hex("01 08 05")).message(point)).toThrow("a field goes past the end of its message");
  expect(() => readerOf(hex("03 08 05")).message(point)).toThrow("a length goes past the end of the message");
  expect(readerOf(hex("")).absent(point)).toEqual({ x: 0 });
});

test("messages and absent messages nest at most 256 levels, and siblings do not add depth", () => {
  const point = codec.object("Point", { x: codec.int32 });
  const r = readerOf(hex("00".repeat(300)));
  for (let i = 0; i < 300; i++) {
    if (i % 2 === 0) r.message(point);
    else r.absent(point);
  }
  expect(r.depth).toBe(0);
  r.depth = 255;
  r.absent(point);
  r.enter();
  expect(() => r.enter()).toThrow("nested deeper than 256");
  r.depth = 256;
  expect(() => r.absent(point)).toThrow("nested deeper than 256");
});

test("dates are merged to the millisecond, and refused out of the range of Date", () => {
  const read = (text: string, into?: Date) => readerOf(hex(text)).date(into);
  expect(read("00")).toEqual(new Date(0));
  expect(read("02 08 05")).toEqual(new Date(5000));
  expect(read("04 10 80 89 7a")).toEqual(new Date(2));
  expect(read("04 10 80 89 7a", new Date(-1500))).toEqual(new Date(-1998));
  expect(read("02 08 05", new Date(1500))).toEqual(new Date(5500));
  expect(() => read("0a 08 ff ff ff ff ff ff ff ff 7f")).toThrow("expected a time from -8.64e15 to 8.64e15 ms");
});

test("an unknown field is skipped by its wire type, and an invalid tag is refused", () => {
  for (const [text, tag] of [
    ["96 01", 8],
    ["00 00 00 00 00 00 00 00", 9],
    ["02 61 62", 10],
    ["08 01 0c", 11],
    ["00 00 00 00", 13],
  ] as const) {
    const r = readerOf(hex(text));
    r.skip(tag);
    expect(r.position).toBe(r.end);
    // A varint past the end is detected only at the end of its message.
    if (tag !== 8) expect(() => readerOf(hex(text), hex(text).length - 1).skip(tag)).toThrow(CodecRefusal);
  }
  for (const [tag, why] of [
    [0, "invalid tag: field number 0"],
    [7, "invalid tag: field number 0"],
    [12, "invalid group: group 1 ends where it did not begin"],
    [14, "invalid tag: wire type 6"],
    [15, "invalid tag: wire type 7"],
  ] as const)
    expect(() => readerOf(hex("00")).skip(tag)).toThrow(why);
});

test("typed arrays of small elements are read packed or unpacked, behind earlier elements", () => {
  expect(readerOf(hex("03 80 01 03")).typed(Int16Array)).toEqual(Int16Array.of(64, -2));
  expect(readerOf(hex("04 80 01 ff 7f")).typed(Uint16Array, Uint16Array.of(1))).toEqual(Uint16Array.of(1, 128, 16383));
  expect(readerOf(hex("80 01")).typedElement(Int16Array)).toEqual(Int16Array.of(64));
  expect(readerOf(hex("03")).typedElement(Int8Array, Int8Array.of(5))).toEqual(Int8Array.of(5, -2));
});

test("an enum is read as the value of its number", () => {
  const color = codec.enumeration<string>("Color", ["red", "green"], { numbers: [1, 300] });
  expect(readerOf(hex("ac 02")).enumeration(color)).toBe("green");
});

test("define sets a property of any name, and sets no prototype", () => {
  const record: Record<string, unknown> = {};
  for (const key of ["a", "__proto__"]) new ProtobufReader().define(record, key, [key]);
  expect(Object.entries(record)).toEqual([
    ["a", ["a"]],
    ["__proto__", ["__proto__"]],
  ]);
  expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
});
