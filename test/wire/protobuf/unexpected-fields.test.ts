/** Fields that no writer of the same schema sends: wrong wire types, missing messages, parts of dates, invalid enums. */
import { describe, expect, test } from "vitest";
import {
  type Codec,
  codec,
  GeneratedCodec,
  ProtobufReader,
  type ProtobufWriter,
  unknownFields,
} from "../../../runtime/wire/index.js";
import { choiceOf, enumStructureOf, structureOf } from "../../../runtime/wire/protobuf/message-structure.js";
import { concat, field, hex, messageOf, toHex } from "./message-bytes.js";

const point = codec.object("Point", { x: codec.int32 });

describe("a field with the wrong wire type", () => {
  const asFields: readonly string[] = ["08 01", "09 01 02 03 04 05 06 07 08", "0a 01 08", "0d 01 02 03 04"];
  /** The indices of the fields that each type reads. */
  test.each<[Codec<unknown>, readonly number[]]>([
    [codec.int32, [0]],
    [codec.optional(codec.int32), [0]],
    [codec.nullable(codec.string), [2]],
    [codec.double, [1]],
    [codec.optional(codec.fixed32), [3]],
    [codec.enumeration("E", ["a"]), [0]],
    [codec.array(codec.int32), [0, 2]],
    [codec.array(codec.string), [2]],
    [codec.array(codec.fixed32), [3]],
    [codec.array(codec.fixed64), [1]],
    [codec.array(codec.bytes), [2]],
    [codec.set(codec.boolean), [0, 2]],
    [codec.int16Array, [0, 2]],
    [codec.uint32Array, [3]],
    [codec.float64Array, [1]],
    [codec.uint8ClampedArray, [2]],
  ])("is kept as an unknown field, for type %#", (of, read) => {
    const holder = codec.object("Holder", { f: codec.optional(of) }) as Codec<object>;
    const list = codec.object("Holder", { f: of }) as Codec<object>;
    // An optional list is wrapped in a message.
    const both = / \| /.test(of.name) ? [list] : [holder, list];
    for (const [i, bytes] of asFields.entries()) {
      for (const codec of both) {
        const error = messageOf(() => codec.fromProtobuf(hex(bytes)));
        if (error !== "nothing") {
          // A packed field has bytes that are not whole elements of the type, or an enum has no default.
          expect(error).toMatch(/not whole elements|missing|ends too early/);
          continue;
        }
        const isUnknown = unknownFields in codec.fromProtobuf(hex(bytes));
        const isWrapped = codec === holder && /\[\]|Set|Array/.test(of.name) && of.name !== "Uint8ClampedArray";
        expect(isUnknown, `${of.name} ${bytes}`).toBe(isWrapped ? i !== 2 : !read.includes(i));
      }
    }
  });

  test("is kept as an unknown field for maps, messages and oneof cases", () => {
    for (const of of [codec.map(codec.int32, codec.int32), codec.record(codec.int32), point, codec.nullable(point)]) {
      const holder = codec.object("Holder", { f: of as Codec<unknown> }) as Codec<object>;
      for (const bytes of ["08 01", "0d 01 02 03 04"])
        expect(holder.fromProtobuf(hex(bytes))[unknownFields as never]).toEqual(hex(bytes));
    }
    const choice = codec.oneof("C", () => ({ n: codec.int32, p: point })) as Codec<object>;
    expect(choice.fromProtobuf(hex("0d 01 02 03 04"))).toMatchObject({ case: "$unknown" });
    const flat = codec.object("Flat", { c: codec.optional(choice) }, { flat: ["c"] }) as Codec<object>;
    expect(flat.fromProtobuf(hex("0d 01 02 03 04 10 01"))).toStrictEqual({
      [unknownFields]: hex("0d 01 02 03 04 10 01"),
    });
  });
});

test("single and packed elements of typed arrays are appended, and refused out of range", () => {
  expect(codec.int32Array.fromProtobuf(hex("0d 01 00 00 00 0d ff ff ff ff"))).toStrictEqual(Int32Array.of(1, -1));
  expect(codec.float32Array.fromProtobuf(hex("0d 00 00 80 3f 0a 04 00 00 80 bf"))).toStrictEqual(
    Float32Array.of(1, -1),
  );
  expect(codec.bigInt64Array.fromProtobuf(hex("09 01 00 00 00 00 00 00 00"))).toStrictEqual(BigInt64Array.of(1n));
  expect(codec.int8Array.fromProtobuf(hex("0a 02 ff 01 08 fe 01"))).toStrictEqual(Int8Array.of(-128, 127));
  expect(codec.int16Array.fromProtobuf(hex("0a 03 ff ff 03 0a 03 fe ff 03"))).toStrictEqual(
    Int16Array.of(-32768, 32767),
  );
  expect(codec.uint16Array.fromProtobuf(hex("0a 04 ff ff 03 00"))).toStrictEqual(Uint16Array.of(65535, 0));
  for (const [of, bytes, value] of [
    [codec.int8Array, "80 02", 128],
    [codec.int8Array, "81 02", -129],
    [codec.int16Array, "80 80 04", 32768],
    [codec.int16Array, "81 80 04", -32769],
    [codec.uint16Array, "80 80 04", 65536],
  ] as readonly [Codec<unknown>, string, number][]) {
    const why = `CodecError: cannot decode ${of.name}: invalid ${of.name}: ${value} is not in the range of its elements`;
    expect(messageOf(() => of.fromProtobuf(field(1, hex(bytes))))).toBe(why);
    expect(messageOf(() => of.fromProtobuf(concat(hex("08"), hex(bytes))))).toBe(why);
  }
});

describe("maps", () => {
  test("ignore unknown fields in their entries, and read the fields of an entry in any order", () => {
    const map = codec.map(codec.int32, codec.string);
    for (const entry of [
      "08 01 12 01 61 18 05",
      "18 05 08 01 12 01 61",
      "12 01 61 18 05 08 01",
      "08 01 18 05 10 07 12 01 61",
    ])
      expect(map.fromProtobuf(field(1, hex(entry)))).toStrictEqual(new Map([[1, "a"]]));
    const merged = codec.map(codec.int32, codec.object("Two", { a: codec.int32, b: codec.int32 }));
    expect(merged.fromProtobuf(field(1, hex("08 01 12 02 08 05 12 02 10 06")))).toStrictEqual(
      new Map([[1, { a: 5, b: 6 }]]),
    );
  });

  test("with keys that protobuf maps cannot have are lists of entries, also in JSON and in errors", () => {
    for (const [key, empty] of [
      [codec.double, 0],
      [codec.float32, 0],
      [codec.bytes, new Uint8Array(0)],
    ] as readonly [Codec<unknown>, unknown][]) {
      const map = codec.map(key, codec.int32) as Codec<Map<unknown, number>>;
      expect(toHex(map.toProtobuf(new Map([[empty, 0]])))).toBe("0a00");
      expect(map.fromProtobuf(hex("0a00"))).toStrictEqual(new Map([[empty, 0]]));
      expect(map.toJson(new Map([[empty, 7]]))).toEqual({ entries: [{ value: 7 }] });
      expect(map.fromJson({ entries: [{ value: 7 }] })).toStrictEqual(new Map([[empty, 7]]));
    }
    const map = codec.map(codec.double, codec.int32) as Codec<unknown>;
    const name = "Map<double, int32>";
    expect(messageOf(() => map.toProtobuf(new Map([["k", 1]])))).toBe(
      `CodecError: cannot encode ${name}.keys(): invalid double: expected a number, got "k"`,
    );
    expect(messageOf(() => map.toProtobuf(new Map([[1, "v"]])))).toContain(
      `cannot encode ${name}.values(): invalid int32`,
    );
    for (const [json, why] of [
      [{ entries: 5 }, `: invalid ${name}: expected an array of entries, got 5`],
      [{ entries: [5] }, "[0]: invalid entry: expected an object, got 5"],
      [{ entries: [{ key: "x" }] }, '[0].keys(): invalid double: expected a number, got "x"'],
      [
        { entries: [{ value: "x" }] },
        '[0].values(): invalid int32: expected an integer from -2147483648 to 2147483647, got "x"',
      ],
      [{ entries: [{ key: 1 }, { key: 1 }] }, ": invalid Map: a key is in it twice"],
    ] as const)
      expect(messageOf(() => map.fromJson(json))).toBe(`CodecError: cannot decode ${name}${why}`);
  });

  test("as plain objects have `__proto__` as an own writable property", () => {
    const record = codec
      .record(codec.int32)
      .fromProtobuf(field(1, concat(field(1, Buffer.from("__proto__")), hex("10 05"))));
    expect(Object.getOwnPropertyDescriptor(record, "__proto__")).toEqual({
      ...{ value: 5, writable: true, enumerable: true, configurable: true },
    });
  });
});

test("a date in several parts merges seconds and milliseconds, and ignores unknown fields", () => {
  const nanos = "10 c0 9f ab 03";
  expect(codec.date.fromProtobuf(hex(`08 05 ${nanos}`))).toStrictEqual(new Date(5007));
  const holder = codec.object("H", { at: codec.date });
  const parts = (...texts: readonly string[]) =>
    holder.fromProtobuf(concat(...texts.map((text) => field(1, hex(text))))).at;
  expect(parts(`08 05 ${nanos}`, "08 06")).toStrictEqual(new Date(6007));
  expect(parts("08 06", nanos)).toStrictEqual(new Date(6007));
  expect(parts(`08 05 ${nanos}`, "")).toStrictEqual(new Date(5007));
  expect(parts(`08 05 18 09 ${nanos}`, "18 09")).toStrictEqual(new Date(5007));
  const early = parts("08 ff ff ff ff ff ff ff ff ff 01 10 80 e5 9a 77", "");
  expect(early).toStrictEqual(new Date(-750));
});

describe("enums", () => {
  test("have the numbers 1, 2, 3, … by default, also if some values are numbers", () => {
    const plain = codec.enumeration("E", ["a", "b"]);
    expect([toHex(plain.toProtobuf("a")), toHex(plain.toProtobuf("b"))]).toEqual(["0801", "0802"]);
    const mixed = codec.enumeration("M", ["a", 7]);
    expect([toHex(mixed.toProtobuf("a")), toHex(mixed.toProtobuf(7))]).toEqual(["0801", "0802"]);
    expect(mixed.fromProtobuf(hex("08 02"))).toBe(7);
  });

  test("accept an unknown value only in its exact spelling", () => {
    const plain = codec.enumeration("E", ["a", "b"]) as Codec<unknown>;
    expect(toHex(plain.toProtobuf("$unknown:5"))).toBe("0805");
    for (const bad of ["x$unknown:5", "$unknown:5x", "$unknown:+5", "$unknown:05", ["$unknown:5"], 5, 5n, null])
      expect(messageOf(() => plain.toProtobuf(bad))).toContain('invalid E: expected "a" or "b", got');
  });
});

describe("the depth limit", () => {
  test("counts nested messages, but not siblings", () => {
    const list = codec.array(point);
    const value = Array.from({ length: 300 }, (_, x) => ({ x }));
    expect(list.fromProtobuf(list.toProtobuf(value))).toEqual(value);
    const missing = codec.array(codec.object("Outer", { inner: point }));
    expect(missing.fromProtobuf(concat(...value.map(() => hex("0a 00"))))).toHaveLength(300);
  });

  test("counts missing messages that are read as defaults", () => {
    const chain = (depth: number) => {
      let of: Codec<unknown> = point;
      for (let i = 0; i < depth; i++) of = codec.object("Outer", { inner: of });
      return of;
    };
    expect(messageOf(() => chain(256).fromProtobuf(hex("")))).toBe("nothing");
    expect(messageOf(() => chain(257).fromProtobuf(hex("")))).toMatch(/nested deeper than 256$/);
  });

  test("does not hide the invalid field number 0 of a nested group", () => {
    expect(messageOf(() => point.fromProtobuf(hex("0b 03 04 0c")))).toBe(
      "CodecError: cannot decode Point: invalid tag: field number 0",
    );
  });
});

test("a message that is too large is refused without a second attempt", () => {
  let times = 0;
  class Huge extends GeneratedCodec<number> {
    override write(): void {}
    override read(): number {
      return 0;
    }
    override writeFields(w: ProtobufWriter): void {
      times++;
      w.reserve(2 ** 31);
    }
    override shape(): Codec<number> {
      const again = { writeFields: () => times++ };
      return Object.assign(Object.create(codec.int32) as Codec<number>, again);
    }
  }
  expect(messageOf(() => new Huge("Huge", 1n, { slot: 4 }).toProtobuf(1))).toBe(
    "CodecError: cannot encode Huge: it takes more than 2147483640 bytes",
  );
  expect(times).toBe(1);
  expect(codec.int32.fromProtobuf(codec.int32.toProtobuf(5))).toBe(5);
});

test("structureOf, choiceOf and enumStructureOf refuse codecs of other kinds", () => {
  const foreign = { name: "Foreign", position: { kind: "message" } } as unknown as Codec<unknown>;
  expect(() => structureOf(foreign)).toThrow("cannot tell what Foreign consists of: its codec does not say");
  expect(() => choiceOf(point as Codec<unknown>)).toThrow("cannot take Point apart: it is no oneof");
  expect(() => enumStructureOf(point as Codec<unknown>)).toThrow("cannot list the values of Point: it is no enum");
  const alone = structureOf(codec.array(codec.int32) as Codec<unknown>);
  expect(alone).toMatchObject({
    kind: "members",
    standsFor: "part",
    parts: [{ name: "items", jsonName: "items", number: 1 }],
  });
  if (alone.kind === "members") expect(alone.fromRow(alone.toRow([1]))).toEqual([1]);
});

test("a reader refuses with the given reason, or with none", () => {
  const r = new ProtobufReader();
  expect(() => r.refuse("why")).toThrow("why");
  expect(() => r.refuse()).toThrow("");
});
