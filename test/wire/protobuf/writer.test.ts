/** The writer as generated code uses it: the exact bytes of every kind of field, and the values that each kind refuses. */
import { describe, expect, test } from "vitest";
import { CodecRefusal } from "../../../runtime/wire/codec-refusal.js";
import { codec, ProtobufWriter, unknownFields } from "../../../runtime/wire/index.js";
import { hex, toHex } from "./message-bytes.js";

type Field = (w: ProtobufWriter, tag: number, value: never) => void;

const color = codec.enumeration<string>("Color", ["red", "green"], { numbers: [1, 300] });
const point = codec.object("Point", { x: codec.int32 });
/** Tags of one byte, two bytes and five bytes; the last one is the largest tag. */
const tags = [
  [0x0a, "0a"],
  [127 * 128, "80 7f"],
  [0xffff_fffa, "fa ff ff ff 0f"],
] as const;

/** Returns the bytes that `write` writes. Expects the same bytes for any remaining room in the initial memory. */
function written(write: (w: ProtobufWriter) => void): string {
  const all = Array.from({ length: 24 }, (_, pad) => {
    const w = new ProtobufWriter(8);
    w.reserve(pad);
    write(w);
    return toHex(w.copy(pad));
  });
  expect(new Set(all).size).toBe(1);
  return all[0] as string;
}

const bytes = (text: string) => toHex(hex(text));
const notIntegers = [undefined, null, "1", 0.5, Number.NaN, true, {}];
const not32 = [...notIntegers, 2 ** 31, -(2 ** 31) - 1];
const notUnsigned32 = [...notIntegers, -1, 2 ** 32];
const not64 = [undefined, null, "1", 5, true, {}, 2n ** 63n, -(2n ** 63n) - 1n];
const notUnsigned64 = [undefined, null, "1", 5, true, {}, -1n, 2n ** 64n];
const notNumbers = [undefined, null, "1", 5n, true, {}];
const notFloats = [...notNumbers, 1e39, -1e39];
const notBooleans = [undefined, null, 0, 1, "true", {}];

interface Kind {
  readonly name: string;
  readonly one: Field;
  readonly packed: Field;
  /** Values with the bytes of each. */
  readonly values: readonly (readonly [unknown, string])[];
  readonly wrong: readonly unknown[];
}

const minusOne = "ff ff ff ff ff ff ff ff ff 01";
const kinds: readonly Kind[] = [
  {
    name: "double",
    one: (w, tag, value) => w.double(tag, value),
    packed: (w, tag, values) => w.packedDouble(tag, values),
    values: [
      [1, "00 00 00 00 00 00 f0 3f"],
      [-0, "00 00 00 00 00 00 00 80"],
    ],
    wrong: notNumbers,
  },
  {
    name: "float",
    one: (w, tag, value) => w.float(tag, value),
    packed: (w, tag, values) => w.packedFloat(tag, values),
    values: [
      [1, "00 00 80 3f"],
      [Number.NEGATIVE_INFINITY, "00 00 80 ff"],
    ],
    wrong: notFloats,
  },
  {
    name: "fixed32",
    one: (w, tag, value) => w.fixed32(tag, value),
    packed: (w, tag, values) => w.packedFixed32(tag, values),
    values: [
      [1, "01 00 00 00"],
      [2 ** 32 - 2, "fe ff ff ff"],
    ],
    wrong: notUnsigned32,
  },
  {
    name: "sfixed32",
    one: (w, tag, value) => w.sfixed32(tag, value),
    packed: (w, tag, values) => w.packedSfixed32(tag, values),
    values: [
      [1, "01 00 00 00"],
      [-2, "fe ff ff ff"],
    ],
    wrong: not32,
  },
  {
    name: "fixed64",
    one: (w, tag, value) => w.fixed64(tag, value),
    packed: (w, tag, values) => w.packedFixed64(tag, values),
    values: [
      [1n, "01 00 00 00 00 00 00 00"],
      [2n ** 64n - 2n, "fe ff ff ff ff ff ff ff"],
    ],
    wrong: notUnsigned64,
  },
  {
    name: "sfixed64",
    one: (w, tag, value) => w.sfixed64(tag, value),
    packed: (w, tag, values) => w.packedSfixed64(tag, values),
    values: [
      [1n, "01 00 00 00 00 00 00 00"],
      [-2n, "fe ff ff ff ff ff ff ff"],
    ],
    wrong: not64,
  },
  {
    name: "bool",
    one: (w, tag, value) => w.bool(tag, value),
    packed: (w, tag, values) => w.packedBool(tag, values),
    values: [
      [true, "01"],
      [false, "00"],
    ],
    wrong: notBooleans,
  },
  {
    name: "uint32",
    one: (w, tag, value) => w.uint32(tag, value),
    packed: (w, tag, values) => w.packedUint32(tag, values),
    values: [
      [0, "00"],
      [127, "7f"],
      [128, "80 01"],
      [2 ** 32 - 1, "ff ff ff ff 0f"],
    ],
    wrong: notUnsigned32,
  },
  {
    name: "int32",
    one: (w, tag, value) => w.int32(tag, value),
    packed: (w, tag, values) => w.packedInt32(tag, values),
    values: [
      [0, "00"],
      [-1, minusOne],
      [2 ** 31 - 1, "ff ff ff ff 07"],
      [-(2 ** 31), "80 80 80 80 f8 ff ff ff ff 01"],
    ],
    wrong: not32,
  },
  {
    name: "sint32",
    one: (w, tag, value) => w.sint32(tag, value),
    packed: (w, tag, values) => w.packedSint32(tag, values),
    values: [
      [0, "00"],
      [-1, "01"],
      [1, "02"],
      [-(2 ** 31), "ff ff ff ff 0f"],
    ],
    wrong: not32,
  },
  {
    name: "uint64",
    one: (w, tag, value) => w.uint64(tag, value),
    packed: (w, tag, values) => w.packedUint64(tag, values),
    values: [
      [0n, "00"],
      [2n ** 32n, "80 80 80 80 10"],
      [2n ** 64n - 1n, minusOne],
    ],
    wrong: notUnsigned64,
  },
  {
    name: "int64",
    one: (w, tag, value) => w.int64(tag, value),
    packed: (w, tag, values) => w.packedInt64(tag, values),
    values: [
      [0n, "00"],
      [2n ** 32n, "80 80 80 80 10"],
      [-1n, minusOne],
    ],
    wrong: not64,
  },
  {
    name: "sint64",
    one: (w, tag, value) => w.sint64(tag, value),
    packed: (w, tag, values) => w.packedSint64(tag, values),
    values: [
      [0n, "00"],
      [-1n, "01"],
      [2n ** 32n, "80 80 80 80 20"],
      [-(2n ** 63n), minusOne],
    ],
    wrong: not64,
  },
  {
    name: "enum",
    one: (w, tag, value) => w.enumeration(tag, color, value),
    packed: (w, tag, values) => w.packedEnumeration(tag, color, values),
    values: [
      ["red", "01"],
      ["green", "ac 02"],
    ],
    wrong: ["blue", undefined, 1],
  },
];

describe.each(kinds)("$name", ({ one, packed, values, wrong }) => {
  test("is written as a tag and the value", () => {
    for (const [tag, tagBytes] of tags) {
      for (const [value, content] of values) {
        expect(written((w) => one(w, tag, value as never))).toBe(bytes(`${tagBytes} ${content}`));
      }
    }
  });

  test("is written packed as a tag, the size and the values, and an empty list is not written", () => {
    for (const [tag, tagBytes] of tags) {
      expect(written((w) => packed(w, tag, [] as never))).toBe("");
      for (let length = 1; length < 10; length++) {
        const list = Array.from({ length }, (_, i) => values[i % values.length] as readonly [unknown, string]);
        const content = bytes(list.map(([, text]) => text).join(""));
        const size = (content.length / 2).toString(16).padStart(2, "0");
        const all = list.map(([value]) => value);
        expect(written((w) => packed(w, tag, all as never))).toBe(bytes(`${tagBytes} ${size}${content}`));
      }
    }
  });

  test("refuses values of other types, alone and at any position of a packed list", () => {
    const w = new ProtobufWriter();
    for (const value of wrong) {
      expect(() => one(w, 10, value as never)).toThrow(CodecRefusal);
      for (let at = 0; at < 6; at++) {
        const list = Array.from({ length: 6 }, (_, i) => (i === at ? value : values[0]?.[0]));
        expect(() => packed(w, 10, list as never), `[${at}]`).toThrow(CodecRefusal);
      }
    }
    for (const list of [undefined, null, {}, 5, new Set()])
      expect(() => packed(w, 10, list as never)).toThrow(CodecRefusal);
    expect(w.position).toBe(0);
  });
});

test("the size of a packed list takes one byte up to 127 bytes, and two bytes from 128 on", () => {
  for (const [length, size] of [
    [127, "7f"],
    [128, "80 01"],
  ] as const) {
    const flags = new Array<boolean>(length).fill(true);
    expect(written((w) => w.packedBool(10, flags))).toBe(bytes(`0a ${size} ${"01".repeat(length)}`));
    const small = new Array<number>(length).fill(1);
    expect(written((w) => w.packedUint32(10, small))).toBe(bytes(`0a ${size} ${"01".repeat(length)}`));
  }
});

test("typed arrays are written packed, and empty ones are not written", () => {
  for (const [type, array, content] of [
    [Uint16Array, Uint16Array.of(0, 128, 65535), "06 00 80 01 ff ff 03"],
    [Uint16Array, new Uint16Array(5).fill(65535), `0f ${"ff ff 03".repeat(5)}`],
    [Int8Array, Int8Array.of(0, -1, 127, -128), "06 00 01 fe 01 ff 01"],
    [Int16Array, Int16Array.of(0, -1, -32768), "05 00 01 ff ff 03"],
    [Int32Array, Int32Array.of(1, -2), "08 01 00 00 00 fe ff ff ff"],
    [Float64Array, Float64Array.of(1), "08 00 00 00 00 00 00 f0 3f"],
  ] as const) {
    for (const [tag, tagBytes] of tags) {
      expect(written((w) => w.typed(tag, type as never, array))).toBe(bytes(`${tagBytes} ${content}`));
      expect(written((w) => w.typed(tag, type as never, new type(0)))).toBe("");
    }
    for (const wrong of [undefined, null, [1], new Uint8Array(1), new DataView(new ArrayBuffer(8))])
      expect(() => new ProtobufWriter().typed(10, type as never, wrong as never)).toThrow(CodecRefusal);
  }
});

test("bytes, strings and timestamps accept only values of their own type", () => {
  const w = new ProtobufWriter();
  for (const [tag, tagBytes] of tags) {
    expect(written((to) => to.putBytes(tag, Uint8Array.of(1, 2)))).toBe(bytes(`${tagBytes} 02 01 02`));
    expect(written((to) => to.clamped(tag, Uint8ClampedArray.of(1, 2)))).toBe(bytes(`${tagBytes} 02 01 02`));
    expect(written((to) => to.string(tag, "abc"))).toBe(bytes(`${tagBytes} 03 61 62 63`));
    expect(written((to) => to.string(tag, "aé"))).toBe(bytes(`${tagBytes} 03 61 c3 a9`));
    const wide = `${tagBytes} c8 01 ${"c3 a9".repeat(100)}`;
    expect(written((to) => to.string(tag, "é".repeat(100)))).toBe(bytes(wide));
    expect(written((to) => to.date(tag, new Date(1001)))).toBe(bytes(`${tagBytes} 06 08 01 10 c0 84 3d`));
    expect(written((to) => to.date(tag, new Date(-1000)))).toBe(bytes(`${tagBytes} 0b 08 ${minusOne}`));
    expect(written((to) => to.date(tag, new Date(0)))).toBe(bytes(`${tagBytes} 00`));
  }
  for (const wrong of [undefined, null, "ab", [1, 2], new Uint8ClampedArray(1), new ArrayBuffer(1)])
    expect(() => w.putBytes(10, wrong as never)).toThrow(CodecRefusal);
  for (const wrong of [undefined, null, [1, 2], new Uint8Array(1)])
    expect(() => w.clamped(10, wrong as never)).toThrow(CodecRefusal);
  for (const wrong of [undefined, null, 5, ["a"], "\ud800", `${"x".repeat(40)}\udc00`])
    expect(() => w.string(10, wrong as never)).toThrow(CodecRefusal);
  expect(w.position).toBe(0);
  for (const wrong of [undefined, null, 0, "1970-01-01", { getTime: () => 0 }, new Date(Number.NaN)])
    expect(() => w.dateFields(wrong as never)).toThrow(CodecRefusal);
});

test("the size of a string takes as many bytes as it needs", () => {
  for (const [units, size] of [
    [0x7f, "7f"],
    [0x80, "8001"],
    [0x3fff, "ff7f"],
    [0x4000, "808001"],
    [0x1f_ffff, "ffff7f"],
    [0x20_0000, "80808001"],
  ] as const) {
    const w = new ProtobufWriter();
    w.string(10, "x".repeat(units));
    expect(toHex(w.bytes.subarray(0, 1 + size.length / 2))).toBe(`0a${size}`);
    expect(w.position).toBe(1 + size.length / 2 + units);
    expect(w.bytes.subarray(1 + size.length / 2, w.position).every((unit) => unit === 0x78)).toBe(true);
  }
});

test("messages nest up to 256 levels and no deeper", () => {
  const w = new ProtobufWriter();
  for (let depth = 1; depth <= 256; depth++) w.begin(10);
  expect(() => w.begin(10)).toThrow("nested deeper than 256");
});

test("sibling messages do not add depth", () => {
  const w = new ProtobufWriter();
  for (let i = 0; i < 300; i++) w.message(10, point, { x: i });
  expect(w.depth).toBe(0);
});

test("the size of a message takes one byte up to 127 bytes, and two bytes from 128 on", () => {
  const holder = codec.object("Holder", { text: codec.string });
  for (const [length, size] of [
    [125, "7f"],
    [126, "80 01"],
  ] as const) {
    const content = `0a ${length.toString(16)} ${"78".repeat(length)}`;
    for (const [tag, tagBytes] of tags) {
      const value = { text: "x".repeat(length) };
      expect(written((w) => w.message(tag, holder, value))).toBe(bytes(`${tagBytes} ${size} ${content}`));
    }
  }
});

test("a message is written as its tag, its size, its fields and then its unknown fields", () => {
  const unknown = hex("a0 06 01");
  for (const [tag, tagBytes] of tags) {
    expect(written((w) => w.message(tag, point, { x: 5 }))).toBe(bytes(`${tagBytes} 02 08 05`));
    const newer = { x: 5, [unknownFields]: unknown };
    expect(written((w) => w.message(tag, point, newer))).toBe(bytes(`${tagBytes} 05 08 05 a0 06 01`));
  }
  expect(written((w) => w.unknown(undefined))).toBe("");
  expect(() => new ProtobufWriter().unknown([1] as never)).toThrow("invalid unknown fields: expected a Uint8Array");
});

test("the enum methods refuse a codec that is no enum", () => {
  const w = new ProtobufWriter();
  expect(() => w.enumeration(8, codec.int32, 1)).toThrow(CodecRefusal);
  expect(() => w.packedEnumeration(10, codec.int32, [])).toThrow(CodecRefusal);
});
