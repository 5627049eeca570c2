/** The JSON mapping of protobuf: which spellings are read, which are refused and how, and which one is written. */
import { describe, expect, test } from "vitest";
import { type Codec, CodecError, codec, type JsonValue } from "../../../runtime/wire/index.js";

/** The text of the error that `run` throws. */
function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    return (error as Error).message;
  }
  return "nothing";
}

const color = codec.enumeration("Color", ["red", "dark blue"], { numbers: [1, 5], aliases: { COLOR_NAVY: 5 } });
const level = codec.enumeration("Level", [0, 1, 2], {
  names: { "0": "LEVEL_LOW", "1": "LEVEL_MID", "2": "LEVEL_HIGH" },
});
const leaf = codec.object("Leaf", { n: codec.int32 });
const all = codec.object(
  "All",
  {
    aBool: codec.boolean,
    aDouble: codec.double,
    aFloat: codec.float32,
    anInt: codec.int32,
    aUint: codec.uint32,
    aLong: codec.int64,
    aUlong: codec.uint64,
    aString: codec.string,
    bytes: codec.bytes,
    date: codec.date,
    level,
    leaf,
    maybe: codec.optional(codec.int32),
    orNull: codec.nullable(leaf),
    items: codec.array(codec.int32),
    leaves: codec.array(leaf),
    bools: codec.map(codec.boolean, codec.string),
    ints: codec.map(codec.int32, codec.int32),
    record: codec.record(leaf),
    choice: codec.nullable(codec.oneof("", () => ({ aText: codec.string, aLeaf: leaf }), { numbers: [40, 41] })),
  },
  { flat: ["choice"] },
);
const empty = all.fromJson({});

describe("writing JSON", () => {
  test("a field whose name begins with a digit keeps that name in JSON, and so does a map field", () => {
    const digits = codec.object("Digits", { 7: codec.map(codec.string, codec.int32), 8: codec.int32 });
    const value = { 7: new Map([["a", 1]]), 8: 2 };
    expect(digits.toJson(value)).toEqual({ 7: { a: 1 }, 8: 2 });
    expect(digits.fromJson({ n7: { a: 1 }, _8: 2 })).toEqual(value);
  });

  test("fields with default values are left out; messages and fields with explicit presence are written", () => {
    expect(empty).toEqual({
      aBool: false,
      aDouble: 0,
      aFloat: 0,
      anInt: 0,
      aUint: 0,
      aLong: 0n,
      aUlong: 0n,
      aString: "",
      bytes: new Uint8Array(0),
      date: new Date(0),
      level: 0,
      leaf: { n: 0 },
      orNull: null,
      items: [],
      leaves: [],
      bools: new Map(),
      ints: new Map(),
      record: {},
      choice: null,
    });
    expect(all.toJson(empty)).toEqual({ date: "1970-01-01T00:00:00Z", leaf: {} });
    const there = { ...empty, maybe: 0, orNull: { n: 0 }, choice: { case: "aText", value: "" } as const };
    expect(all.toJson(there)).toEqual({
      date: "1970-01-01T00:00:00Z",
      leaf: {},
      maybe: 0,
      orNull: {},
      aText: "",
    });
  });

  test("-0 survives toJson and fromJson, but JSON.stringify writes it as 0", () => {
    const number = codec.object("Number", { n: codec.double });
    const json = number.toJson({ n: -0 });
    expect(json).toEqual({ n: -0 });
    expect(number.fromJson(json)).toEqual({ n: -0 });
    expect(JSON.stringify(json)).toBe('{"n":0}');
    for (const text of ['{"n":-0}', '{"n":"-0"}', '{"n":-0.0e1}'])
      expect(number.fromJson(JSON.parse(text))).toEqual({ n: -0 });
  });

  test("names are in lower camel case; 64-bit integers, bytes, enum values and map keys are strings", () => {
    const value = {
      ...empty,
      aDouble: Number.NaN,
      aFloat: Number.NEGATIVE_INFINITY,
      aLong: -(2n ** 63n),
      aUlong: 2n ** 64n - 1n,
      bytes: Uint8Array.of(255, 254, 1),
      date: new Date(1500),
      level: 2,
      items: [1, -1],
      bools: new Map([[true, "yes"]]),
      ints: new Map([[-7, 7]]),
      record: { __proto__x: { n: 1 }, ["__proto__"]: { n: 2 } },
      choice: { case: "aLeaf", value: { n: 3 } },
    } as never;
    expect(JSON.stringify(all.toJson(value))).toBe(
      JSON.stringify({
        aDouble: "NaN",
        aFloat: "-Infinity",
        aLong: "-9223372036854775808",
        aUlong: "18446744073709551615",
        bytes: "//4B",
        date: "1970-01-01T00:00:01.500Z",
        level: "LEVEL_HIGH",
        leaf: {},
        items: [1, -1],
        bools: { true: "yes" },
        ints: { "-7": 7 },
        record: JSON.parse('{"__proto__x":{"n":1},"__proto__":{"n":2}}'),
        aLeaf: { n: 3 },
      }),
    );
  });

  test("an unknown enum number is written as a number, and an unknown union case as an empty object", () => {
    const two = codec.object("Two", { color, level });
    expect(two.toJson({ color: "$unknown:9", level: 9 } as never)).toEqual({ color: 9, level: 9 });
    expect(two.fromJson({ color: 9, level: 9 })).toEqual({ color: "$unknown:9", level: 9 });
    const shape = codec.union("Shape", "kind", () => ({ dot: codec.object("", {}) }));
    expect(shape.toJson({ kind: "$unknown" })).toEqual({});
  });

  test("the smallest and the largest integers are written, and -0 is written as 0", () => {
    const signed = codec.array(codec.int32);
    expect(signed.toJson([-(2 ** 31), 2 ** 31 - 1, -0])).toEqual({ items: [-(2 ** 31), 2 ** 31 - 1, 0] });
    expect(codec.array(codec.uint32).toJson([0, 2 ** 32 - 1])).toEqual({ items: [0, 2 ** 32 - 1] });
  });

  test("a set is written as a list, and an array in place of a Set is refused", () => {
    const holder = codec.object("Holder", { tags: codec.set(codec.string) });
    expect(holder.toJson({ tags: new Set(["a", "b"]) })).toEqual({ tags: ["a", "b"] });
    expect(holder.fromJson({ tags: ["a", "b"] })).toEqual({ tags: new Set(["a", "b"]) });
    expect(refusal(() => holder.toJson({ tags: ["a"] } as never))).toBe(
      "cannot encode Holder.tags: invalid Set: expected a Set, got an array of 1",
    );
  });

  test("a field with a foreign codec is written and read by that codec, with the same options", () => {
    const calls: unknown[] = [];
    const foreign = {
      name: "Foreign",
      toJson: (value: unknown, options: unknown) => [calls.push(value, options)],
      fromJson: (json: unknown, options: unknown) => calls.push(json, options),
    } as unknown as Codec<number>;
    const holder = codec.object("Holder", { foreign });
    const options = { registry: [leaf] };
    expect(holder.toJson({ foreign: 7 }, options)).toEqual({ foreign: [2] });
    expect(holder.fromJson({ foreign: "x" }, options)).toEqual({ foreign: 4 });
    expect(calls).toEqual([7, options, "x", options]);
  });

  test("a map with enum keys is written as a list of entries", () => {
    const byColor = codec.object("ByColor", { map: codec.map(color, codec.int32) });
    const value = { map: new Map([["red" as const, 1]]) };
    expect(byColor.toJson(value)).toEqual({ map: [{ key: "COLOR_RED", value: 1 }] });
    expect(byColor.fromJson({ map: [{ key: "COLOR_RED", value: 1 }] })).toEqual(value);
    expect(byColor.fromProtobuf(byColor.toProtobuf(value))).toEqual(value);
  });

  test("a value that is not a message is written inside a wrapper message", () => {
    expect(codec.array(codec.int32).toJson([1])).toEqual({ items: [1] });
    expect(codec.record(codec.int32).toJson({ a: 1 })).toEqual({ entries: { a: 1 } });
    expect(codec.int64.toJson(1n)).toEqual({ value: "1" });
    expect(codec.int64.toJson(0n)).toEqual({});
    expect(codec.nullable(codec.int64).toJson(0n)).toEqual({ value: "0" });
    expect(codec.array(codec.array(codec.int32)).toJson([[1], []])).toEqual({ items: [{ items: [1] }, {}] });
    expect(codec.array(codec.nullable(codec.int32)).toJson([0, null])).toEqual({ items: [{ value: 0 }, {}] });
    expect(codec.tuple<[number, string?]>(codec.int32, codec.optional(codec.string)).toJson([1])).toEqual({ item1: 1 });
    expect(codec.map(codec.double, codec.string).toJson(new Map([[0.5, "half"]]))).toEqual({
      entries: [{ key: 0.5, value: "half" }],
    });
    expect(codec.date.toJson(new Date(0))).toBe("1970-01-01T00:00:00Z");
  });

  test.each<readonly [string, unknown, string]>([
    [
      "anInt",
      0.5,
      "cannot encode All.anInt: invalid int32: expected an integer from -2147483648 to 2147483647, got 0.5",
    ],
    [
      "anInt",
      undefined,
      "cannot encode All.anInt: invalid int32: expected an integer from -2147483648 to 2147483647, got undefined",
    ],
    [
      "aLong",
      1,
      "cannot encode All.aLong: invalid int64: expected a bigint from -9223372036854775808 to 9223372036854775807, got 1",
    ],
    [
      "aFloat",
      1e39,
      "cannot encode All.aFloat: invalid float32: expected a number up to 3.4028234663852886e+38, got 1e+39",
    ],
    [
      "aString",
      "\ud800",
      'cannot encode All.aString: invalid string: expected text without lone surrogates, got "\\ud800"',
    ],
    ["bytes", [1], "cannot encode All.bytes: invalid bytes: expected a Uint8Array, got an array of 1"],
    ["date", new Date(Number.NaN), 'cannot encode All.date: invalid date: expected a valid Date, got "Invalid Date"'],
    [
      "date",
      new Date(-62135596800001),
      'cannot encode All.date: invalid date: expected a Date from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z, got "0000-12-31T23:59:59.999Z"',
    ],
    [
      "level",
      "LEVEL_LOW",
      'cannot encode All.level: invalid Level: expected an integer from -2147483648 to 2147483647, got "LEVEL_LOW"',
    ],
    ["leaf", null, "cannot encode All.leaf: invalid Leaf: expected an object, got null"],
    ["items", new Set([1]), "cannot encode All.items: invalid array: expected an array, got a Set"],
    [
      "items",
      [1, "2"],
      'cannot encode All.items[1]: invalid int32: expected an integer from -2147483648 to 2147483647, got "2"',
    ],
    ["bools", {}, "cannot encode All.bools: invalid Map: expected a Map, got an object"],
    ["bools", new Map([[1, "a"]]), "cannot encode All.bools.keys()[0]: invalid boolean: expected true or false, got 1"],
    [
      "record",
      { "a b": {} },
      'cannot encode All.record["a b"].n: invalid int32: expected an integer from -2147483648 to 2147483647, got undefined',
    ],
    [
      "record",
      { "\udc00": { n: 1 } },
      'cannot encode All.record.keys()[0]: invalid string: expected text without lone surrogates, got "\\udc00"',
    ],
    [
      "choice",
      { case: "other" },
      'cannot encode All.choice: invalid oneof: expected case to be "aText" or "aLeaf", got "other"',
    ],
    [
      "choice",
      { case: "aLeaf", value: { n: "x" } },
      'cannot encode All.choice.value.n: invalid int32: expected an integer from -2147483648 to 2147483647, got "x"',
    ],
  ])("toJson refuses the field %s with the value %o", (key, wrong, text) => {
    expect(refusal(() => all.toJson({ ...empty, [key]: wrong } as never))).toBe(text);
  });

  test("toJson and fromJson refuse a port", () => {
    const holder = codec.object("Holder", { to: codec.port(() => codec.int32) });
    const text = "Holder.to: a Port has no JSON: it means something inside a running mesh alone";
    expect(refusal(() => holder.toJson({ to: {} }))).toBe(`cannot encode ${text}`);
    expect(refusal(() => holder.fromJson({ to: {} }))).toBe(`cannot decode ${text}`);
    expect(refusal(() => holder.fromJson({}))).toBe(`cannot decode ${text}`);
  });
});

describe("reading JSON", () => {
  test.each<readonly [JsonValue, object]>([
    [
      { a_bool: true, an_int: 1 },
      { aBool: true, anInt: 1 },
    ],
    [{ anInt: "12" }, { anInt: 12 }],
    [{ anInt: 1e5 }, { anInt: 100000 }],
    [{ anInt: "1e5" }, { anInt: 100000 }],
    [{ anInt: "-2147483648" }, { anInt: -2147483648 }],
    [{ aUint: 4294967295 }, { aUint: 4294967295 }],
    [{ aLong: 12 }, { aLong: 12n }],
    [{ aLong: "-9223372036854775808" }, { aLong: -(2n ** 63n) }],
    [{ aUlong: "18446744073709551615" }, { aUlong: 2n ** 64n - 1n }],
    [{ aDouble: "1.5" }, { aDouble: 1.5 }],
    [
      { aDouble: "Infinity", aFloat: "NaN" },
      { aDouble: Number.POSITIVE_INFINITY, aFloat: Number.NaN },
    ],
    [{ aFloat: 0.1 }, { aFloat: Math.fround(0.1) }],
    [{ bytes: "-_8" }, { bytes: Uint8Array.of(251, 255) }],
    [{ date: "1970-01-01T01:00:01.0019Z" }, { date: new Date(3_601_001) }],
    [{ date: "1969-12-31T23:59:59.9999+00:00" }, { date: new Date(-1) }],
    [{ level: "LEVEL_MID" }, { level: 1 }],
    [{ level: 1 }, { level: 1 }],
    [{ level: 77 }, { level: 77 }],
    [{ level: -2147483648 }, { level: -2147483648 }],
    [{ leaf: { n: 1 } }, { leaf: { n: 1 } }],
    [{ maybe: 0 }, { maybe: 0 }],
    [{ orNull: {} }, { orNull: { n: 0 } }],
    [{ items: [1, "2", 3.0] }, { items: [1, 2, 3] }],
    [
      { bools: { true: "a", false: "b" } },
      {
        bools: new Map([
          [true, "a"],
          [false, "b"],
        ]),
      },
    ],
    [
      { ints: { "1": 1, "-1": "2", "1e1": 3 } },
      {
        ints: new Map([
          [1, 1],
          [-1, 2],
          [10, 3],
        ]),
      },
    ],
    [{ a_text: "x" }, { choice: { case: "aText", value: "x" } }],
    [{ aLeaf: {} }, { choice: { case: "aLeaf", value: { n: 0 } } }],
    [{ aLeaf: null, aText: "x" }, { choice: { case: "aText", value: "x" } }],
    [{ aText: null }, { choice: null }],
  ])("fromJson accepts %o", (json, value) => {
    expect(all.fromJson(json)).toEqual({ ...empty, ...value });
  });

  test("fromJson reads null as an absent field", () => {
    const names =
      "aBool aDouble aFloat anInt aUint aLong aUlong aString bytes date level leaf maybe orNull items leaves";
    for (const name of [...names.split(" "), "bools", "ints", "record", "aText", "aLeaf"]) {
      expect(all.fromJson({ [name]: null })).toEqual(empty);
    }
  });

  test("the key __proto__ is an ordinary key, and sets no prototype", () => {
    const value = all.fromJson(JSON.parse('{"record":{"__proto__":{"n":7}}}'));
    expect(Object.getPrototypeOf(value.record)).toBe(Object.prototype);
    expect(Object.entries(value.record)).toEqual([["__proto__", { n: 7 }]]);
    expect(refusal(() => all.fromJson(JSON.parse('{"__proto__":{"anInt":7}}')))).toBe(
      "cannot decode All.__proto__: there is no such field",
    );
    expect(refusal(() => leaf.fromJson({ toString: 1 }))).toBe("cannot decode Leaf.toString: there is no such field");
    expect(leaf.fromJson(Object.create({ n: 5 }))).toEqual({ n: 0 });
  });

  test("fromJson accepts every name of an enum value, including aliases", () => {
    const holder = codec.object("Holder", { color });
    expect(holder.fromJson({ color: "COLOR_DARK_BLUE" })).toEqual({ color: "dark blue" });
    expect(holder.fromJson({ color: "COLOR_NAVY" })).toEqual({ color: "dark blue" });
    expect(holder.fromJson({ color: 5 })).toEqual({ color: "dark blue" });
    expect(holder.toJson({ color: "dark blue" })).toEqual({ color: "COLOR_DARK_BLUE" });
    expect(holder.fromJson({ color: "COLOR_UNSPECIFIED" })).toEqual({ color: "$unknown:0" });
    expect(refusal(() => holder.fromJson({}))).toBe("cannot decode Holder.color: it is missing, and has no default");
    expect(refusal(() => holder.fromJson({ color: "red" }))).toBe(
      'cannot decode Holder.color: invalid Color: expected one of COLOR_UNSPECIFIED, COLOR_RED, COLOR_DARK_BLUE, COLOR_NAVY, or a number, got "red"',
    );
  });

  const integer = "expected an integer from -2147483648 to 2147483647";
  test.each<readonly [unknown, string]>([
    [null, "All: invalid All: expected an object, got null"],
    [[], "All: invalid All: expected an object, got an array of 0"],
    ["{}", 'All: invalid All: expected an object, got "{}"'],
    [{ more: 1 }, "All.more: there is no such field"],
    [{ AInt: 1 }, "All.AInt: there is no such field"],
    [{ anInt: 1, an_int: 1 }, 'All: "anInt" and "an_int" are the same field'],
    [{ anInt: 1, an_int: null }, 'All: "anInt" and "an_int" are the same field'],
    [{ aText: "", aLeaf: {} }, 'All.choice: "aText" and "aLeaf" are cases of the same oneof'],
    [{ aBool: "true" }, 'All.aBool: invalid boolean: expected true or false, got "true"'],
    [{ aBool: 1 }, "All.aBool: invalid boolean: expected true or false, got 1"],
    [{ anInt: 0.5 }, `All.anInt: invalid int32: ${integer}, got 0.5`],
    [{ anInt: "0x10" }, `All.anInt: invalid int32: ${integer}, got "0x10"`],
    [{ anInt: " 1" }, `All.anInt: invalid int32: ${integer}, got " 1"`],
    [{ anInt: "" }, `All.anInt: invalid int32: ${integer}, got ""`],
    [{ anInt: true }, `All.anInt: invalid int32: ${integer}, got true`],
    [{ anInt: 2147483648 }, `All.anInt: invalid int32: ${integer}, got 2147483648`],
    [{ aUint: -1 }, "All.aUint: invalid uint32: expected an integer from 0 to 4294967295, got -1"],
    [
      { aLong: "9223372036854775808" },
      'All.aLong: invalid int64: expected an integer from -9223372036854775808 to 9223372036854775807, got "9223372036854775808"',
    ],
    [{ aUlong: "-1" }, 'All.aUlong: invalid uint64: expected an integer from 0 to 18446744073709551615, got "-1"'],
    [{ aDouble: "" }, 'All.aDouble: invalid double: expected a number, got ""'],
    [{ aDouble: 1 / 0 }, "All.aDouble: invalid double: expected a number, got Infinity"],
    [{ aDouble: "1e400" }, 'All.aDouble: invalid double: expected a number, got "1e400"'],
    [{ aFloat: 3.5e38 }, "All.aFloat: invalid float32: expected a number up to 3.4028234663852886e+38, got 3.5e+38"],
    [{ aString: 1 }, "All.aString: invalid string: expected a string, got 1"],
    [{ aString: "a\udc00" }, 'All.aString: invalid string: expected text without lone surrogates, got "a\\udc00"'],
    [{ bytes: "AQ=" }, 'All.bytes: invalid bytes: expected base64, got "AQ="'],
    [{ bytes: "A Q==" }, 'All.bytes: invalid bytes: expected base64, got "A Q=="'],
    [
      { date: "1970-01-01" },
      'All.date: invalid date: expected a time as in RFC 3339, from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z, got "1970-01-01"',
    ],
    [
      { date: 0 },
      "All.date: invalid date: expected a time as in RFC 3339, from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z, got 0",
    ],
    [
      { level: "LEVEL_NONE" },
      'All.level: invalid Level: expected one of LEVEL_LOW, LEVEL_MID, LEVEL_HIGH, or a number, got "LEVEL_NONE"',
    ],
    [
      { level: 2147483648 },
      "All.level: invalid Level: expected one of LEVEL_LOW, LEVEL_MID, LEVEL_HIGH, or a number, got 2147483648",
    ],
    [
      { level: 0.5 },
      "All.level: invalid Level: expected one of LEVEL_LOW, LEVEL_MID, LEVEL_HIGH, or a number, got 0.5",
    ],
    [{ leaf: [] }, "All.leaf: invalid Leaf: expected an object, got an array of 0"],
    [{ leaf: { n: "x" } }, `All.leaf.n: invalid int32: ${integer}, got "x"`],
    [{ items: {} }, "All.items: invalid int32[]: expected an array, got an object"],
    [{ items: [null] }, `All.items[0]: invalid int32: ${integer}, got null`],
    [{ leaves: [{}, null] }, "All.leaves[1]: invalid Leaf: expected an object, got null"],
    [{ bools: [] }, "All.bools: invalid Map<boolean, string>: expected an object, got an array of 0"],
    [{ bools: { yes: "" } }, 'All.bools.keys()[0]: invalid boolean: expected "true" or "false", got "yes"'],
    [{ ints: { "1.5": 1 } }, `All.ints.keys()[0]: invalid int32: ${integer}, got "1.5"`],
    [{ ints: { "1": null } }, `All.ints["1"]: invalid int32: ${integer}, got null`],
    [{ ints: { "1": 1, "1.0": 2 } }, "All.ints: invalid Map: a key is in it twice"],
    [
      { record: { "\ud800": {} } },
      'All.record.keys()[0]: invalid string: expected text without lone surrogates, got "\\ud800"',
    ],
    [{ record: { a: { m: 1 } } }, 'All.record["a"].m: there is no such field'],
    [{ a_text: 1 }, "All.choice.value: invalid string: expected a string, got 1"],
  ])("fromJson refuses %o", (json, text) => {
    expect(refusal(() => all.fromJson(json))).toBe(`cannot decode ${text}`);
  });

  test("a union with no case or with two cases is refused", () => {
    const shape = codec.union("Shape", "kind", () => ({ dot: codec.object("", {}), round: leaf }));
    const holder = codec.object("Holder", { shape });
    expect(holder.fromJson({ shape: { round: {} } })).toEqual({ shape: { kind: "round", n: 0 } });
    expect(refusal(() => holder.fromJson({}))).toBe(
      'cannot decode Holder.shape: invalid Shape: expected one of "dot", "round", got none of them',
    );
    expect(refusal(() => shape.fromJson({ dot: {}, round: {} }))).toBe(
      'cannot decode Shape: "dot" and "round" are cases of the same oneof',
    );
    expect(refusal(() => shape.fromJson({ round: { n: "x" } }))).toBe(
      `cannot decode Shape.n: invalid int32: ${integer}, got "x"`,
    );
  });

  test("typed arrays are read from lists of numbers, and elements out of range are refused", () => {
    const holder = codec.object("Holder", {
      small: codec.int8Array,
      floats: codec.float32Array,
      raw: codec.uint8ClampedArray,
    });
    expect(holder.fromJson({ small: [-128, "127"], floats: [0.1, "NaN"], raw: "AQI" })).toEqual({
      small: Int8Array.of(-128, 127),
      floats: Float32Array.of(0.1, Number.NaN),
      raw: Uint8ClampedArray.of(1, 2),
    });
    const written = { small: [-128, 127], floats: [0.5, "NaN"], raw: "AQI=" };
    expect(holder.toJson(holder.fromJson(written))).toEqual(written);
    expect(refusal(() => holder.fromJson({ small: [0, 128] }))).toBe(
      "cannot decode Holder.small[1]: invalid Int8Array: expected an integer from -128 to 127, got 128",
    );
    expect(refusal(() => holder.toJson({ small: [1] } as never))).toBe(
      "cannot encode Holder.small: invalid Int8Array: expected a Int8Array, got an array of 1",
    );
  });

  test("messages nest up to 256 levels, and deeper or circular values are refused", () => {
    const leaves = { items: Array.from({ length: 300 }, (_, n) => ({ n })) };
    expect(codec.array(leaf).toJson(leaves.items)).toEqual({ items: [{}, ...leaves.items.slice(1)] });
    expect(codec.array(leaf).fromJson(leaves)).toEqual(leaves.items);
    const values = Array.from({ length: 300 }, (_, n) => (n % 2 === 0 ? [n] : { n }));
    expect(codec.value.fromJson(codec.value.toJson(values))).toEqual(values);
    interface List {
      next?: List;
    }
    const list: Codec<List> = codec.object<List>("List", () => ({ next: codec.optional(list) }));
    const nested = (depth: number): List => (depth === 1 ? {} : { next: nested(depth - 1) });
    expect(list.fromJson(list.toJson(nested(256)))).toEqual(nested(256));
    expect(refusal(() => list.toJson(nested(257)))).toMatch(/^cannot encode List.*: nested deeper than 256$/);
    expect(refusal(() => list.fromJson(nested(257)))).toMatch(/^cannot decode List.*: nested deeper than 256$/);
    const circular: List = {};
    circular.next = circular;
    expect(refusal(() => list.toJson(circular))).toMatch(/nested deeper than 256$/);
    const deep = JSON.parse(`${"[".repeat(300)}${"]".repeat(300)}`);
    expect(refusal(() => codec.value.fromJson(deep))).toMatch(/nested deeper than 256$/);
  });
});

test("ignoreUnknownFields leaves out unknown fields and unknown enum names", () => {
  const shape = codec.union("Shape", "kind", () => ({ dot: leaf }));
  const holder = codec.object("Holder", {
    level,
    levels: codec.array(level),
    byName: codec.record(level),
    maybe: codec.optional(level),
    leaf,
    shape,
  });
  const choice = codec.oneof("Choice", () => ({ level, leaf }));
  const ignored = choice.fromJson({ level: "LEVEL_NEW" }, { ignoreUnknownFields: true });
  expect(ignored).toEqual({ case: "$unknown", value: undefined });
  const json = {
    level: "LEVEL_NEW",
    levels: ["LEVEL_MID", "LEVEL_NEW", 7],
    byName: { a: "LEVEL_NEW", b: "LEVEL_HIGH" },
    maybe: "LEVEL_NEW",
    leaf: { n: 1, more: {} },
    shape: { ring: {} },
    more: [],
  };
  expect(holder.fromJson(json, { ignoreUnknownFields: true })).toEqual({
    level: 0,
    levels: [1, 7],
    byName: { b: 2 },
    leaf: { n: 1 },
    shape: { kind: "$unknown" },
  });
  expect(refusal(() => holder.fromJson({ level: true }, { ignoreUnknownFields: true }))).toMatch(
    /^cannot decode Holder.level/,
  );
});

test("a case whose name begins with a digit is also read with an underscore before it", () => {
  const choice = codec.oneof("Choice", () => ({ 7: codec.map(codec.string, codec.int32), a: codec.int32 }));
  const value = { case: "7", value: new Map([["x", 1]]) } as const;
  const flat = codec.object("Flat", { choice }, { flat: ["choice"] });
  expect(choice.toJson(value)).toEqual({ 7: { entries: { x: 1 } } });
  expect(choice.fromJson({ _7: { entries: { x: 1 } } })).toEqual(value);
  expect(flat.fromJson({ _7: { entries: { x: 1 } } })).toEqual({ choice: value });
  expect(refusal(() => choice.fromJson({ n7: {} }))).toBe("cannot decode Choice.n7: there is no such field");
  expect(refusal(() => flat.fromJson({ n7: {} }))).toBe("cannot decode Flat.n7: there is no such field");
});

test("fields whose JSON names would be equal get their numbers appended", () => {
  const odd = codec.object("Odd", { a: codec.int32, a_: codec.int32, "+": codec.int32, "-": codec.int32 });
  const value = { a: 1, a_: 2, "+": 3, "-": 4 };
  expect(odd.toJson(value)).toEqual({ a: 1, a2: 2, "3": 3, "4": 4 });
  expect(odd.fromJson({ a: 1, a__2: 2, __3: 3, "4": 4 })).toEqual(value);
  const reversed = codec.object("Reversed", { a_: codec.int32, a: codec.int32 }, { numbers: [2, 1] });
  expect(reversed.toJson({ a_: 2, a: 1 })).toEqual({ a: 1, a2: 2 });
});
