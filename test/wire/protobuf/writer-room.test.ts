/** Every field reserves the room that it needs: the bytes do not depend on the initial size of the memory. */
import { describe, expect, test } from "vitest";
import { type Codec, codec, ProtobufReader, ProtobufWriter } from "../../../runtime/wire/index.js";
import { messageOf, toHex } from "./message-bytes.js";

/** Values that need the most bytes, the fewest bytes, and numbers in between. */
const small = [-1, 0, 127, 128, 2 ** 31 - 1, -(2 ** 31)];
const unsigned = [2 ** 32 - 1, 0, 127, 128, 2 ** 14, 2 ** 21, 2 ** 28];
const large = [-1n, 0n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 31n, 2n ** 32n];
const unsignedLarge = [2n ** 64n - 1n, 0n, 2n ** 32n, 2n ** 35n];
const scalars: readonly (readonly [Codec<unknown>, readonly unknown[]])[] = [
  [codec.boolean, [true, false]],
  [codec.double, [1.5, -0, Number.POSITIVE_INFINITY]],
  [codec.float32, [0.5, -0, Number.NEGATIVE_INFINITY]],
  ...[codec.int32, codec.sint32, codec.sfixed32].map((one) => [one, small] as const),
  ...[codec.uint32, codec.fixed32].map((one) => [one, unsigned] as const),
  ...[codec.int64, codec.sint64, codec.sfixed64].map((one) => [one, large] as const),
  ...[codec.uint64, codec.fixed64].map((one) => [one, unsignedLarge] as const),
  [codec.string, ["", "a", "日", "é".repeat(16), "日".repeat(11), "x".repeat(32), "x".repeat(33), "日".repeat(43)]],
  [codec.bytes, [new Uint8Array(0), Uint8Array.of(1), new Uint8Array(127).fill(7), new Uint8Array(128).fill(8)]],
  [codec.uint8ClampedArray, [new Uint8ClampedArray(0), new Uint8ClampedArray(130).fill(9)]],
  [codec.date, [new Date(0), new Date(-1), new Date(8.64e15), new Date(-8.64e15), new Date(999)]],
  [codec.enumeration("E", ["a", "b"], { numbers: [2 ** 31 - 1, -1] }), ["a", "b"]],
  [
    codec.object("Inner", { text: codec.string }),
    [{ text: "" }, { text: "x".repeat(126) }, { text: "x".repeat(16384) }],
  ],
];

/** Expects the same bytes from writers with little initial memory. */
function expectSame(of: Codec<unknown>, value: unknown): void {
  const expected = of.toProtobuf(value);
  for (const size of [8, 24]) {
    const w = new ProtobufWriter(size);
    of.writeFields(w, value);
    expect(toHex(w.copy(0))).toBe(toHex(expected));
  }
  expect(of.fromProtobuf(expected)).toStrictEqual(value);
}

describe.each(scalars.map(([of, values]) => ({ name: of.name, of, values })))("$name", ({ of, values }) => {
  test("has the same bytes for any initial size of the writer, in a field of any number", () => {
    for (const number of [1, 15, 16, 2047, 2048, 2 ** 18 - 1, 2 ** 18, 2 ** 25, 2 ** 29 - 1]) {
      const message = codec.object(
        "M",
        { pad: codec.string, one: codec.optional(of) },
        { numbers: [number === 1 ? 2 : 1, number] },
      );
      for (const one of values)
        for (let pad = 0; pad < 9; pad++) expectSame(message as Codec<unknown>, { pad: "p".repeat(pad), one });
    }
  });

  test("has the same bytes for any initial size of the writer, in packed and unpacked lists", () => {
    for (const unpacked of [[], ["list"]]) {
      const message = codec.object("M", { pad: codec.string, list: codec.array(of) }, { numbers: [1, 2], unpacked });
      for (let length = 0; length < 18; length++) {
        const list = Array.from({ length }, (_, i) => values[i % values.length]);
        for (let pad = 0; pad < 5; pad++) expectSame(message as Codec<unknown>, { pad: "p".repeat(pad), list });
      }
    }
  });
});

test("typed arrays have the same bytes for any initial size of the writer", () => {
  const arrays: readonly (readonly [Codec<unknown>, readonly (number | bigint)[]])[] = [
    [codec.int8Array, [-128, 127, 0, -1, 63, 64, -64, -65]],
    [codec.int16Array, [-32768, 32767, 0, -1, 8191, 8192]],
    [codec.uint16Array, [65535, 0, 127, 128, 16383, 16384]],
    [codec.int32Array, small],
    [codec.uint32Array, unsigned],
    [codec.bigInt64Array, large],
    [codec.bigUint64Array, unsignedLarge],
    [codec.float32Array, [1.5, -0]],
    [codec.float64Array, [1.5, -0]],
  ];
  for (const [of, values] of arrays) {
    const type = {
      Int8Array,
      Int16Array,
      Uint16Array,
      Int32Array,
      Uint32Array,
      BigInt64Array,
      BigUint64Array,
      Float32Array,
      Float64Array,
    }[of.name as "Int8Array"];
    const message = codec.object("M", { pad: codec.string, array: of });
    for (let length = 0; length < 70; length++) {
      const array = type.from(Array.from({ length }, (_, i) => values[i % values.length] as number));
      for (let pad = 0; pad < 3; pad++) expectSame(message as Codec<unknown>, { pad: "p".repeat(pad), array });
    }
  }
});

test("lists of doubles longer than the read buffer are read, also behind those of an earlier field", () => {
  const list = (length: number) => Array.from({ length }, (_, i) => i / 7);
  const doubles = codec.array(codec.double);
  for (const length of [1, 3, 4, 5, 1023, 1024, 1025, 2047, 2048, 2050]) {
    const bytes = doubles.toProtobuf(list(length));
    expect(doubles.fromProtobuf(bytes)).toEqual(list(length));
    expect(doubles.fromProtobuf(Buffer.concat([bytes, bytes]))).toEqual([...list(length), ...list(length)]);
  }
});

describe("a value of the wrong type", () => {
  const wrong = [
    undefined,
    null,
    "x",
    "1",
    1.5,
    -1,
    2 ** 32,
    2 ** 31,
    2n ** 64n,
    -1n,
    5n,
    2n ** 63n,
    true,
    {},
    [],
    Symbol("s"),
    1e300,
    new Date(Number.NaN),
    "\ud800",
  ];

  test.each(scalars.map(([of]) => [of.name, of] as const))(
    "is refused as %s alone, in a packed list and in an unpacked list",
    (name, of) => {
      for (const value of wrong) {
        const alone = messageOf(() => of.toProtobuf(value));
        const reason = (text: string) => text.replace(/^CodecError: cannot encode \S*?: /, "");
        for (const unpacked of [[], ["list"]]) {
          const message = codec.object("M", { list: codec.array(of) }, { unpacked });
          for (const before of [0, 3]) {
            const list = [...new Array(before).fill(goodOf(of)), value];
            const inList = messageOf(() => message.toProtobuf({ list } as never));
            expect(inList === "nothing", `${name} ${String(value)}`).toBe(alone === "nothing");
            if (alone !== "nothing") expect(inList).toContain(reason(alone).split(": ").at(-1));
            if (alone !== "nothing") expect(inList).toContain(`M.list[${before}]`);
          }
        }
      }
    },
  );

  function goodOf(of: Codec<unknown>): unknown {
    return scalars.find(([one]) => one === of)?.[1][0];
  }

  test("is refused in place of a list, a map or a set", () => {
    for (const value of [undefined, null, {}, 5, "x", new Map([[1, 1]])]) {
      for (const [of, expected] of [
        [codec.array(codec.int32), "invalid array: expected an array"],
        [codec.array(codec.string), "invalid array: expected an array"],
        [codec.set(codec.int32), "invalid Set: expected a Set"],
      ] as const)
        expect(messageOf(() => of.toProtobuf(value as never))).toContain(expected);
    }
    expect(messageOf(() => codec.map(codec.int32, codec.int32).toProtobuf({} as never))).toContain(
      "invalid Map: expected a Map, got an object",
    );
  });
});

test("a reader that is reset reads each message from its start", () => {
  const text = codec.object("T", { a: codec.string, b: codec.string });
  const r = new ProtobufReader();
  for (const value of [
    { a: "first", b: "é".repeat(200) },
    { a: "", b: "x" },
    { a: "日", b: "ab".repeat(300) },
    { a: "yz", b: "" },
  ]) {
    const bytes = Uint8Array.from([0xff, ...text.toProtobuf(value)]);
    r.reset(bytes, new DataView(bytes.buffer), 1, bytes.length);
    expect(text.readFields(r, bytes.length, undefined)).toEqual(value);
    expect([r.position, r.depth]).toEqual([bytes.length, 0]);
  }
});

test("short, long and widely spaced strings are read unchanged, ASCII or not", () => {
  const items = codec.array(codec.object("Item", { gap: codec.bytes, text: codec.string }));
  for (const gap of [0, 10, 63, 64, 65, 200, 600]) {
    for (const unit of ["a", "é"]) {
      const value = Array.from({ length: 40 }, (_, i) => ({
        gap: new Uint8Array(gap).fill(200),
        text: unit.repeat((i * 7) % 300),
      }));
      expect(items.fromProtobuf(items.toProtobuf(value))).toEqual(value);
    }
  }
});
