/** Invalid JSON and invalid values are refused with the reasons of the other layouts. */
import { describe, expect, test } from "vitest";
import { type Codec, codec } from "../../../runtime/wire/index.js";
import { messageOf } from "../protobuf/message-bytes.js";

const scalars: readonly Codec<unknown>[] = [
  ...[codec.boolean, codec.double, codec.float32, codec.string, codec.bytes, codec.date, codec.int32, codec.sint32],
  ...[
    codec.sfixed32,
    codec.uint32,
    codec.fixed32,
    codec.int64,
    codec.sint64,
    codec.sfixed64,
    codec.uint64,
    codec.fixed64,
  ],
];
const wrong: readonly unknown[] = [
  ...[
    undefined,
    null,
    true,
    0.5,
    -1,
    2 ** 31,
    2 ** 32,
    -(2 ** 31) - 1,
    1e300,
    Number.NaN,
    "1",
    "\ud800",
    5n,
    -1n,
    2n ** 63n,
    2n ** 64n,
  ],
  ...[{}, [], new Date(Number.NaN), Symbol("s"), () => 1],
];

test.each(scalars.map((of) => [of.name, of] as const))(
  "toJson of %s refuses the values that encode refuses, for the same reason",
  (_, of) => {
    const list = codec.array(of) as Codec<unknown>;
    for (const value of wrong) {
      const expected = messageOf(() => of.encode(value));
      expect(messageOf(() => of.toJson(value))).toBe(expected);
      const inList = messageOf(() => list.toJson([value]));
      expect(inList).toBe(expected.replace(`${of.name}:`, `${list.name}[0]:`));
    }
  },
);

const int32 = "an integer from -2147483648 to 2147483647";
const int64 = "an integer from -9223372036854775808 to 9223372036854775807";
describe("fromJson", () => {
  test.each<[Codec<unknown>, string, readonly unknown[]]>([
    [codec.boolean, "invalid boolean: expected true or false", ["true", 1, {}]],
    [codec.double, "invalid double: expected a number", ["x", true, "1e999", {}]],
    [codec.float32, "invalid float32: expected a number up to 3.4028234663852886e+38", ["x", 1e39, true]],
    [codec.string, "invalid string: expected a string", [1, true, []]],
    [codec.string, "invalid string: expected text without lone surrogates", ["\ud800"]],
    [codec.bytes, "invalid bytes: expected base64", ["x", 1, "a===", "a-+b"]],
    [codec.int32, `invalid int32: expected ${int32}`, [0.5, 2 ** 31, "x", "2147483648", "-2147483649", true]],
    [codec.sint32, `invalid sint32: expected ${int32}`, [0.5]],
    [codec.sfixed32, `invalid sfixed32: expected ${int32}`, [0.5]],
    [codec.uint32, "invalid uint32: expected an integer from 0 to 4294967295", [-1, 2 ** 32, "x"]],
    [codec.fixed32, "invalid fixed32: expected an integer from 0 to 4294967295", [-1]],
    [codec.int64, `invalid int64: expected ${int64}`, [0.5, "9223372036854775808", "-9223372036854775809"]],
    [codec.sint64, `invalid sint64: expected ${int64}`, [0.5]],
    [codec.sfixed64, `invalid sfixed64: expected ${int64}`, [0.5]],
    [codec.uint64, "invalid uint64: expected an integer from 0 to 18446744073709551615", [-1, "18446744073709551616"]],
    [codec.fixed64, "invalid fixed64: expected an integer from 0 to 18446744073709551615", [-1]],
    [
      codec.enumeration("Color", ["red"]),
      "invalid Color: expected one of COLOR_UNSPECIFIED, COLOR_RED, or a number",
      ["red", 0.5, 2 ** 31, true],
    ],
    [codec.enumeration("", ["red"]), "invalid enum: expected one of VALUE_UNSPECIFIED, VALUE_RED, or a number", [true]],
    [
      codec.enumeration("E", ["a", "b", "c", "d", "e", "f", "g", "h", "i"]),
      "invalid E: expected one of E_UNSPECIFIED, E_A, E_B, E_C, E_D, E_E, E_F, E_G or one of 2 more, or a number",
      ["x"],
    ],
    [
      codec.enumeration("E", ["a", "b", "c", "d", "e", "f", "g"]),
      "invalid E: expected one of E_UNSPECIFIED, E_A, E_B, E_C, E_D, E_E, E_F, E_G, or a number",
      ["x"],
    ],
  ])("refuses invalid values with an error that names type, expectation and actual value (%#)", (of, why, all) => {
    const holder = codec.object("Holder", { f: of });
    const list = codec.array(of);
    for (const json of all) {
      const got = messageOf(() => holder.fromJson({ f: json }));
      expect(got.startsWith(`CodecError: cannot decode Holder.f: ${why}, got `), got).toBe(true);
      const inList = messageOf(() => list.fromJson({ items: [json] }));
      expect(inList.startsWith(`CodecError: cannot decode ${list.name}[0]: ${why}, got `), inList).toBe(true);
    }
  });

  test("refuses wrong containers, unknown fields, missing fields and duplicate fields", () => {
    const all = codec.object("All", {
      list: codec.array(codec.int32),
      map: codec.map(codec.int32, codec.int32),
      flags: codec.map(codec.boolean, codec.int32),
      odd: codec.map(codec.double, codec.int32),
      typed: codec.int8Array,
      wide: codec.uint16Array,
      shorts: codec.int16Array,
      inner: codec.optional(codec.object("", {})),
      oneName: codec.int32,
      kind: codec.enumeration("Kind", ["a"]),
    });
    const reason = (json: unknown) => messageOf(() => all.fromJson(json)).replace("CodecError: cannot decode ", "");
    for (const [json, why] of [
      [5, "All: invalid All: expected an object, got 5"],
      [[], "All: invalid All: expected an object, got an array of 0"],
      [null, "All: invalid All: expected an object, got null"],
      [{ list: 5 }, "All.list: invalid int32[]: expected an array, got 5"],
      [{ map: [] }, "All.map: invalid Map<int32, int32>: expected an object, got an array of 0"],
      [{ map: { x: 1 } }, `All.map.keys()[0]: invalid int32: expected ${int32}, got "x"`],
      [{ map: { 1: "x" } }, `All.map["1"]: invalid int32: expected ${int32}, got "x"`],
      [{ map: { 1: 1, "1.0": 2 } }, "All.map: invalid Map: a key is in it twice"],
      [{ flags: { yes: 1 } }, 'All.flags.keys()[0]: invalid boolean: expected "true" or "false", got "yes"'],
      [{ odd: {} }, "All.odd: invalid Map<double, int32>: expected an array of entries, got an object"],
      [{ odd: [{ key: 1 }, 5] }, "All.odd[1]: invalid entry: expected an object, got 5"],
      [{ typed: [1, 128] }, "All.typed[1]: invalid Int8Array: expected an integer from -128 to 127, got 128"],
      [{ shorts: [40_000] }, "All.shorts[0]: invalid Int16Array: expected an integer from -32768 to 32767, got 40000"],
      [{ wide: [65_536] }, "All.wide[0]: invalid Uint16Array: expected an integer from 0 to 65535, got 65536"],
      [{ inner: 5 }, "All.inner: invalid message: expected an object, got 5"],
      [{ other: 5 }, "All.other: there is no such field"],
      [{ oneName: 1, one_name: 1 }, 'All: "oneName" and "one_name" are the same field'],
      [{}, "All.kind: it is missing, and has no default"],
      [{ kind: null }, "All.kind: it is missing, and has no default"],
    ] as const)
      expect(reason(json)).toBe(why);
    const two = codec.object(
      "Two",
      { c: codec.oneof("C", () => ({ a: codec.int32, b: codec.int32 })) },
      { flat: ["c"] },
    );
    expect(messageOf(() => two.fromJson({ a: 1, b: 2 }))).toBe(
      'CodecError: cannot decode Two.c: "a" and "b" are cases of the same oneof',
    );
  });
});
