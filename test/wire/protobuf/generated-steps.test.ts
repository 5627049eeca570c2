/** Steps that only generated code takes in the protobuf layout: whole packed fields, and cases that a schema does not know. */
import { describe, expect, test } from "vitest";
import { CodecRefusal } from "../../../runtime/wire/codec-refusal.js";
import {
  type Codec,
  checkUnknownCase,
  codec,
  ProtobufReader,
  ProtobufWriter,
  readUnknownCase,
  readUnknownVariant,
  unknownFields,
  writeUnknownVariant,
} from "../../../runtime/wire/index.js";
import { readCollection, writeCollection } from "../../../runtime/wire/protobuf/collection.js";
import { hex, toHex } from "./message-bytes.js";

function readerOf(bytes: Uint8Array, from = 1): ProtobufReader {
  const r = new ProtobufReader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), from, bytes.length);
  return r;
}

const color = codec.enumeration<string>("Color", ["red", "green"], { numbers: [1, 300] });

describe("a packed field", () => {
  test.each<[string, Codec<unknown>, (r: ProtobufReader, into?: never[]) => unknown[], readonly unknown[]]>([
    ["double", codec.double, (r, into) => r.packedDouble(into), [0.5, -1.5]],
    ["float", codec.float32, (r, into) => r.packedFloat(into), [0.5, -1.5]],
    ["fixed32", codec.fixed32, (r, into) => r.packedFixed32(into), [0, 2 ** 32 - 1]],
    ["sfixed32", codec.sfixed32, (r, into) => r.packedSfixed32(into), [-1, 2 ** 31 - 1]],
    ["fixed64", codec.fixed64, (r, into) => r.packedFixed64(into), [0n, 2n ** 64n - 1n]],
    ["sfixed64", codec.sfixed64, (r, into) => r.packedSfixed64(into), [-1n, 5n]],
    ["bool", codec.boolean, (r, into) => r.packedBool(into), [true, false]],
    ["uint32", codec.uint32, (r, into) => r.packedUint32(into), [0, 2 ** 32 - 1]],
    ["int32", codec.int32, (r, into) => r.packedInt32(into), [-1, 300]],
    ["sint32", codec.sint32, (r, into) => r.packedSint32(into), [-1, 300]],
    ["uint64", codec.uint64, (r, into) => r.packedUint64(into), [0n, 2n ** 64n - 1n]],
    ["int64", codec.int64, (r, into) => r.packedInt64(into), [-1n, 300n]],
    ["sint64", codec.sint64, (r, into) => r.packedSint64(into), [-1n, 300n]],
    ["enum", color, (r, into) => r.packedEnumeration(color as Codec<never>, into), ["red", "green", "$unknown:7"]],
  ])("of %s is read, and appended to an earlier list", (_, of, read, values) => {
    for (const length of [1, 2, 3, 4, 5, 7, 8, 9]) {
      const list = Array.from({ length }, (_, i) => values[i % values.length]);
      const bytes = codec.array(of).toProtobuf(list);
      expect(read(readerOf(bytes))).toEqual(list);
      const before = ["before"] as never[];
      expect(read(readerOf(bytes), before)).toEqual(["before", ...list]);
      expect(() => read(readerOf(bytes.slice(0, -1)))).toThrow("a length goes past the end of the message");
    }
  });

  test("of doubles is read if it is larger than the internal buffer", () => {
    for (const length of [1020, 1024, 1025, 2047, 2048, 2051]) {
      const list = Array.from({ length }, (_, i) => i / 7);
      expect(readerOf(codec.array(codec.double).toProtobuf(list)).packedDouble()).toEqual(list);
    }
  });

  test("is refused by the enum methods if its codec is no enum", () => {
    const r = readerOf(hex("0a 01 01"));
    expect(() => r.packedEnumeration(codec.int32)).toThrow(CodecRefusal);
    expect(() => r.enumeration(codec.int32)).toThrow(CodecRefusal);
    expect(() => new ProtobufWriter().packedEnumeration(10, codec.int32, [1])).toThrow(CodecRefusal);
  });
});

test("a packed enum field is written as the numbers of its values", () => {
  const w = new ProtobufWriter();
  w.packedEnumeration(10, color, ["red", "green", "$unknown:7"]);
  expect(toHex(w.copy(0))).toBe("0a0401ac0207");
  expect(() => w.packedEnumeration(10, color, "red" as never)).toThrow(CodecRefusal);
  expect(() => w.packedEnumeration(10, color, ["blue"])).toThrow('expected "red" or "green", got "blue"');
});

test("collections are written as fields with a number, and are read behind earlier elements", () => {
  for (const [of, value, bytes, twice] of [
    [codec.array(codec.int32), [1, 2], "2a 02 01 02", [1, 2, 1, 2]],
    [codec.set(codec.string), new Set(["a"]), "2a 01 61", new Set(["a"])],
    [codec.map(codec.int32, codec.int32), new Map([[1, 2]]), "2a 04 08 01 10 02", new Map([[1, 2]])],
    [codec.record(codec.int32), { a: 2 }, "2a 05 0a 01 61 10 02", { a: 2 }],
  ] as readonly (readonly [Codec<unknown>, unknown, string, unknown])[]) {
    const w = new ProtobufWriter();
    writeCollection(w, 5, of, value);
    expect(toHex(w.copy(0))).toBe(toHex(hex(bytes)));
    const once = readCollection(readerOf(w.copy(0)), of, 2, undefined);
    expect(once).toEqual(value);
    expect(readCollection(readerOf(w.copy(0)), of, 2, once)).toEqual(twice);
  }
  const texts = codec.object("Texts", { pad: codec.int32, list: codec.array(codec.string) });
  expect(() => texts.fromProtobuf(hex("12 01 61 12 01 ff"))).toThrow(
    "cannot decode Texts.list[1]: invalid string: expected UTF-8",
  );
  expect(texts.fromProtobuf(hex("10 05"))).toMatchObject({ pad: 0, list: [] });
  for (const of of [codec.int32, codec.string, color, codec.object("", {})] as readonly Codec<unknown>[]) {
    expect(() => writeCollection(new ProtobufWriter(), 5, of, 1)).toThrow(CodecRefusal);
    expect(() => readCollection(readerOf(hex("2a 00")), of, 2, undefined)).toThrow(CodecRefusal);
  }
});

test("requireMap, requireSet, requireArray and requireObject refuse values of other types", () => {
  const w = new ProtobufWriter();
  w.requireMap(new Map());
  w.requireSet(new Set());
  w.requireArray([]);
  w.requireObject({});
  for (const wrong of [undefined, null, 5]) {
    for (const step of ["requireMap", "requireSet", "requireArray", "requireObject"] as const)
      expect(() => w[step](wrong)).toThrow(CodecRefusal);
  }
  for (const step of ["requireMap", "requireSet", "requireArray"] as const)
    expect(() => w[step]({})).toThrow(CodecRefusal);
});

describe("an unknown case", () => {
  const some = hex("a0 06 01");
  const more = hex("a8 06 02");

  test("is written as its unknown fields, and refused without any", () => {
    const w = new ProtobufWriter();
    writeUnknownVariant(w, "kind", { kind: "$unknown", [unknownFields]: some });
    expect(w.copy(0)).toEqual(some);
    for (const wrong of [{ kind: "$unknown" }, { kind: "oval", [unknownFields]: some }, { [unknownFields]: some }, {}])
      expect(() => writeUnknownVariant(w, "kind", wrong)).toThrow(CodecRefusal);
    checkUnknownCase(w, { case: "$unknown" });
    for (const wrong of [{ case: "oval" }, {}, null, undefined, 5])
      expect(() => checkUnknownCase(w, wrong as never)).toThrow(CodecRefusal);
  });

  test("is read from its unknown fields, which follow those of an earlier part", () => {
    const r = readerOf(hex(""), 0);
    expect(readUnknownCase(r, some)).toEqual({ case: "$unknown", value: undefined });
    expect(() => readUnknownCase(r, undefined)).toThrow(CodecRefusal);
    const before = { kind: "$unknown", [unknownFields]: some };
    expect(readUnknownVariant(r, "kind", undefined, some)).toStrictEqual(before);
    expect(readUnknownVariant(r, "kind", before, undefined)).toStrictEqual(before);
    expect(readUnknownVariant(r, "kind", before, more)).toStrictEqual({
      kind: "$unknown",
      [unknownFields]: Uint8Array.from([...some, ...more]),
    });
    const known = { kind: "dot", x: 1 };
    expect(readUnknownVariant(r, "kind", known, more)).toBe(known);
    expect(() => readUnknownVariant(r, "kind", undefined, undefined)).toThrow(CodecRefusal);
  });
});
