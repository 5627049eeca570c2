/** The JSON and the bytes of well-known types, and of the messages inside an `Any`, compared with protobuf-es. */
import { runInNewContext } from "node:vm";
import { create, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import {
  DurationSchema,
  EmptySchema,
  FieldMaskSchema,
  StructSchema,
  TimestampSchema,
  ValueSchema,
} from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { type TypeDeclaration, wellKnownNames } from "../../../compiler/model/index.js";
import { type Codec, CodecError, codec, unknownFields } from "../../../runtime/wire/index.js";
import { loadGenerated } from "../load-generated.js";

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    return (error as Error).message;
  }
  return "nothing";
}

const all = codec.object("All", {
  timestamp: codec.timestamp,
  duration: codec.duration,
  fieldMask: codec.fieldMask,
  empty: codec.empty,
  any: codec.any,
  struct: codec.struct,
  value: codec.value,
  listValue: codec.listValue,
  nullValue: codec.nullValue,
  wrapped: codec.int64Value,
  maybe: codec.optional(codec.stringValue),
  maybeValue: codec.optional(codec.value),
  values: codec.array(codec.value),
  nulls: codec.array(codec.nullValue),
  byName: codec.map(codec.string, codec.value),
});

test("absent fields of well-known types get default values, and message fields are always written", () => {
  const value = all.fromJson({});
  expect(value).toEqual({
    timestamp: { seconds: 0n, nanos: 0 },
    duration: { seconds: 0n, nanos: 0 },
    fieldMask: { paths: [] },
    empty: {},
    any: { typeUrl: "", value: new Uint8Array(0) },
    struct: {},
    value: null,
    listValue: [],
    nullValue: null,
    wrapped: { value: 0n },
    values: [],
    nulls: [],
    byName: new Map(),
  });
  expect(all.fromProtobuf(new Uint8Array(0))).toEqual(value);
  expect(all.toJson(value)).toEqual({
    timestamp: "1970-01-01T00:00:00Z",
    duration: "0s",
    fieldMask: "",
    empty: {},
    any: {},
    struct: {},
    value: null,
    listValue: [],
    wrapped: "0",
  });
});

test("each well-known type has its own JSON form", () => {
  const json = {
    timestamp: "1972-01-01T10:00:20.021Z",
    duration: "-1.500s",
    fieldMask: "user.displayName,photo",
    empty: {},
    any: { "@type": "type.googleapis.com/google.protobuf.Duration", value: "3s" },
    struct: { a: [1, null, { b: "x" }], __proto__x: true },
    value: "text",
    listValue: [1, "a", [], {}],
    wrapped: "9007199254740993",
    maybe: "",
    maybeValue: null,
    values: [null, 1, [null]],
    nulls: [null],
    byName: { a: null },
  };
  const value = all.fromJson(json);
  expect(value).toMatchObject({
    timestamp: { seconds: 63108020n, nanos: 21_000_000 },
    duration: { seconds: -1n, nanos: -500_000_000 },
    fieldMask: { paths: ["user.display_name", "photo"] },
    any: { typeUrl: "type.googleapis.com/google.protobuf.Duration", value: Uint8Array.of(8, 3) },
    wrapped: { value: 9007199254740993n },
    maybe: { value: "" },
    maybeValue: null,
    values: [null, 1, [null]],
    nulls: [null],
    byName: new Map([["a", null]]),
  });
  expect(all.toJson(value)).toEqual(json);
  expect(all.fromProtobuf(all.toProtobuf(value))).toEqual(value);
  expect(all.decode(all.encode(value))).toEqual(value);
});

test("null is a value for JsonValue and NullValue fields, and an absent field for other types", () => {
  const value = all.fromJson({
    value: null,
    maybeValue: null,
    maybe: null,
    wrapped: null,
    struct: null,
    nullValue: null,
  });
  expect(value.maybeValue).toBe(null);
  expect("maybe" in value).toBe(false);
  expect(value.wrapped).toEqual({ value: 0n });
  const choice = codec.oneof("Choice", () => ({ nothing: codec.nullValue, any: codec.value, text: codec.string }));
  expect(choice.fromJson({ nothing: null, text: null })).toEqual({ case: "nothing", value: null });
  expect(choice.toJson({ case: "nothing", value: null })).toEqual({ nothing: null });
  expect(choice.fromJson({ nothing: "NULL_VALUE" })).toEqual({ case: "nothing", value: null });
  expect(choice.fromJson({ any: null })).toEqual({ case: "any", value: null });
  expect(all.fromJson({ nulls: [null, "NULL_VALUE", 0] }).nulls).toEqual([null, null, null]);
});

test("an empty string for a field mask and an empty object for an Any are read as default values", () => {
  expect(all.fromJson({ fieldMask: "", any: {} })).toEqual(all.fromJson({}));
});

test("a Struct accepts objects without a prototype and plain objects of other realms", () => {
  const bare = Object.assign(Object.create(null), { a: 1 });
  for (const plain of [bare, runInNewContext("({ a: 1 })")]) {
    expect(codec.struct.toJson(plain)).toEqual({ a: 1 });
    expect(codec.struct.decode(codec.struct.encode(plain))).toEqual({ a: 1 });
  }
});

describe("invalid values of well-known types", () => {
  const none = all.fromJson({});
  test.each<readonly [object, string]>([
    [
      { timestamp: { seconds: 253402300800n, nanos: 0 } },
      "timestamp: invalid Timestamp: expected a time from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z, got an object",
    ],
    [{ timestamp: { seconds: 1, nanos: 0 } }, "timestamp.seconds: invalid int64: expected a bigint, got 1"],
    [{ timestamp: { seconds: 1n, nanos: 0.5 } }, "timestamp.nanos: invalid int32: expected an integer, got 0.5"],
    [
      { duration: { seconds: 1n, nanos: -1 } },
      "duration: invalid Duration: expected up to 315576000000 seconds, and nanoseconds of the same sign below a second, got an object",
    ],
    [
      { fieldMask: { paths: ["a", "displayName"] } },
      'fieldMask.paths[1]: invalid path: expected names in snake case, with dots between them, got "displayName"',
    ],
    [
      { fieldMask: { paths: [["a"]] } },
      "fieldMask.paths[0]: invalid path: expected names in snake case, with dots between them, got an array of 1",
    ],
    [{ fieldMask: {} }, "fieldMask: invalid FieldMask: expected an object with paths, got an object"],
    [{ fieldMask: null }, "fieldMask: invalid FieldMask: expected an object with paths, got null"],
    [{ value: Number.NaN }, "value: invalid JsonValue: expected a number that JSON has, got NaN"],
    [
      { value: [undefined] },
      "value[0]: invalid JsonValue: expected null, a boolean, a number, a string, an array or a plain object, got undefined",
    ],
    [{ struct: { a: new Map() } }, "struct.a: invalid Struct: expected a plain object, got a Map"],
    [{ struct: [] }, "struct: invalid Struct: expected a plain object, got an array of 0"],
    [{ listValue: {} }, "listValue: invalid ListValue: expected an array, got an object"],
    [{ value: "\ud800" }, 'value: invalid string: expected text without lone surrogates, got "\\ud800"'],
    [{ nullValue: 0 }, "nullValue: invalid NullValue: expected null, got 0"],
    [{ nulls: [null, 0] }, "nulls[1]: invalid NullValue: expected null, got 0"],
    [{ wrapped: 5n }, "wrapped: invalid Int64Value: expected an object, got 5n"],
    [{ any: null }, "any: invalid Any: expected an object with typeUrl, got null"],
    [
      { any: { typeUrl: 5, value: new Uint8Array(0) } },
      "any: invalid Any: expected an object with typeUrl, got an object",
    ],
    [{ any: { typeUrl: "", value: [] } }, "any: invalid Any: expected an object with a value of bytes, got an object"],
    [
      { any: { typeUrl: "", value: Uint8Array.of(1) } },
      'any: invalid Any: expected a type URL, as type.googleapis.com/example.v1.Tree, got ""',
    ],
    [
      { any: { typeUrl: "x/example.v1.Tree", value: new Uint8Array(0) } },
      'any: invalid Any: no codec for "example.v1.Tree" is in the registry',
    ],
  ])("toJson refuses %o", (wrong, text) => {
    expect(refusal(() => all.toJson({ ...none, ...wrong } as never))).toBe(`cannot encode All.${text}`);
  });

  test.each<readonly [object, string]>([
    [
      { timestamp: "0000-01-01T00:00:00Z" },
      'timestamp: invalid Timestamp: expected a time as in RFC 3339, from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z, got "0000-01-01T00:00:00Z"',
    ],
    [{ duration: "1" }, 'duration: invalid Duration: expected up to 315576000000 seconds, as "1.5s", got "1"'],
    [{ duration: 1 }, 'duration: invalid Duration: expected up to 315576000000 seconds, as "1.5s", got 1'],
    [
      { duration: ["1s"] },
      'duration: invalid Duration: expected up to 315576000000 seconds, as "1.5s", got an array of 1',
    ],
    [
      { fieldMask: "a,b_c" },
      'fieldMask: invalid FieldMask: expected paths in lower camel case, with commas between them, got "a,b_c"',
    ],
    [{ fieldMask: [] }, "fieldMask: invalid FieldMask: expected a string, got an array of 0"],
    [{ empty: { a: 1 } }, "empty.a: there is no such field"],
    [
      { wrapped: { value: "1" } },
      "wrapped: invalid int64: expected an integer from -9223372036854775808 to 9223372036854775807, got an object",
    ],
    [{ maybe: 1 }, "maybe: invalid string: expected a string, got 1"],
    [{ nullValue: "null" }, 'nullValue: invalid NullValue: expected null, got "null"'],
    [{ struct: [] }, "struct: invalid Struct: expected a plain object, got an array of 0"],
    [
      { any: { "@type": "not_a_url" } },
      'any: invalid Any: expected a type URL, as type.googleapis.com/example.v1.Tree, got "not_a_url"',
    ],
    [{ any: { "@type": "" } }, 'any: invalid Any: expected a type URL, as type.googleapis.com/example.v1.Tree, got ""'],
    [{ any: 5 }, "any: invalid Any: expected an object, got 5"],
    [{ any: { value: 1 } }, 'any: invalid Any: expected a type URL under "@type", got undefined'],
    [{ any: { "@type": "x/google.protobuf.Duration" } }, 'any: invalid Any: "value" is missing'],
    [
      { any: { "@type": "x/google.protobuf.Duration", value: "3" } },
      'any.value: invalid Duration: expected up to 315576000000 seconds, as "1.5s", got "3"',
    ],
    [{ any: { "@type": "x/google.protobuf.Duration", value: "3s", more: 1 } }, "any.more: there is no such field"],
  ])("fromJson refuses %o", (json, text) => {
    expect(refusal(() => all.fromJson(json))).toBe(`cannot decode All.${text}`);
  });
});

describe("Any", () => {
  const tree = codec.object(
    "Tree",
    { leaves: codec.int32, more: codec.optional(codec.any) },
    { type: "example.v1.Tree" },
  );
  const registry = [tree];
  const typeUrl = "type.googleapis.com/example.v1.Tree";

  test("toJson writes the fields of the message beside its type, and fromJson reads the type at any position", () => {
    const value = { typeUrl, value: tree.toProtobuf({ leaves: 3 }) };
    expect(codec.any.toJson(value, { registry })).toEqual({ "@type": typeUrl, leaves: 3 });
    expect(codec.any.fromJson({ leaves: 3, "@type": typeUrl }, { registry })).toEqual(value);
    expect(
      codec.any.fromJson({ leaves: 3, "@type": typeUrl, new: 1 }, { registry, ignoreUnknownFields: true }),
    ).toEqual(value);
  });

  test("the type name follows the last slash of the URL, and is looked up in the whole registry", () => {
    const other = codec.object("Other", { leaves: codec.string }, { type: "example.v1.Other" });
    for (const url of ["/example.v1.Tree", "a/b/example.v1.Tree"]) {
      const value = { typeUrl: url, value: tree.toProtobuf({ leaves: 3 }) };
      expect(codec.any.fromJson({ "@type": url, leaves: 3 }, { registry: [other, tree] })).toEqual(value);
    }
  });

  test("an Any can contain another Any or a JsonValue", () => {
    const json = {
      "@type": typeUrl,
      more: { "@type": "x/google.protobuf.Any", value: { "@type": typeUrl, leaves: 1 } },
    };
    expect(codec.any.toJson(codec.any.fromJson(json, { registry }), { registry })).toEqual(json);
    const value = { "@type": "x/google.protobuf.Value", value: null };
    expect(codec.any.toJson(codec.any.fromJson(value))).toEqual(value);
  });

  test("toJson refuses invalid bytes of the message, and the decoding error is the cause", () => {
    expect(refusal(() => codec.any.toJson({ typeUrl, value: Uint8Array.of(8) }, { registry }))).toBe(
      "cannot encode Any: invalid Any: cannot decode Tree.leaves: the message ends too early",
    );
    expect(() => codec.any.toJson({ typeUrl, value: Uint8Array.of(8) }, { registry })).toThrow(
      expect.objectContaining({ cause: expect.any(CodecError) }),
    );
  });

  test("values of Any nested deeper than 256 levels are refused", () => {
    let json: unknown = {};
    for (let i = 0; i < 300; i++) json = { "@type": "x/google.protobuf.Any", value: json };
    expect(refusal(() => codec.any.fromJson(json))).toMatch(/nested deeper than 256$/);
  });
});

test("the compiler and the runtime give each well-known type the same fingerprint and layout", async () => {
  const at = { file: "schemas/a.ts", line: 1, column: 1 };
  const types = wellKnownNames.map((name): TypeDeclaration => {
    const own = { name: "a", id: 1, type: { kind: "wellKnown", name }, optional: false, readonly: false } as const;
    const shape = { kind: "message", fields: [{ ...own, doc: "", tags: {}, at }] } as const;
    return { key: `schemas/a.ts#Of${name}`, name: `Of${name}`, exported: true, doc: "", typeParameters: [], shape, at };
  });
  const codecs = await loadGenerated({
    package: "p",
    modules: [{ path: "schemas/a.ts", types, actors: [], tasks: [] }],
  });
  expect(codecs.size).toBe(wellKnownNames.length);
  const facts = ({ fingerprint, slot, text, bulk }: Codec<unknown>) => ({ fingerprint, slot, text, bulk });
  for (const generated of codecs.values()) {
    expect(facts(generated.shape()), generated.name).toEqual(facts(generated));
  }
});

describe("well-known types in bytes", () => {
  test("protobuf-es reads and writes the same values", () => {
    const time = { seconds: -1n, nanos: 999 };
    expect(fromBinary(TimestampSchema, codec.timestamp.toProtobuf(time))).toMatchObject(time);
    expect(codec.duration.fromProtobuf(toBinary(DurationSchema, create(DurationSchema, time)))).toEqual(time);
    const mask = { paths: ["a", "b_c.d"] };
    expect(toJson(FieldMaskSchema, fromBinary(FieldMaskSchema, codec.fieldMask.toProtobuf(mask)))).toBe("a,bC.d");
    expect(toBinary(EmptySchema, create(EmptySchema))).toEqual(codec.empty.toProtobuf({}));
    const json = { a: [null, true, 1.5, "x", { b: [] }], c: {} };
    expect(toJson(StructSchema, fromBinary(StructSchema, codec.struct.toProtobuf(json)))).toEqual(json);
    expect(codec.value.fromProtobuf(toBinary(ValueSchema, fromJson(ValueSchema, [json, null])))).toEqual([json, null]);
  });

  test("values out of range and unknown fields survive a round trip", () => {
    const odd = { seconds: 5n, nanos: -5 };
    expect(codec.duration.fromProtobuf(codec.duration.toProtobuf(odd))).toEqual(odd);
    const bytes = Uint8Array.of(8, 1, 24, 7);
    const time = codec.timestamp.fromProtobuf(bytes);
    expect(time).toEqual({ seconds: 1n, nanos: 0, [unknownFields]: Uint8Array.of(24, 7) });
    expect(codec.timestamp.toProtobuf(time)).toEqual(bytes);
    expect(codec.value.fromProtobuf(new Uint8Array(0))).toBe(null);
    expect(codec.value.fromProtobuf(Uint8Array.of(0x11, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f))).toBe(Number.NaN);
  });

  test("the last kind of a JsonValue wins, and objects or arrays of the same kind are merged", () => {
    const joined = (...values: readonly unknown[]) =>
      Uint8Array.from(values.flatMap((value) => [...codec.value.toProtobuf(value as never)]));
    expect(codec.value.fromProtobuf(joined(1, "x"))).toBe("x");
    expect(codec.value.fromProtobuf(joined([1], [2]))).toEqual([1, 2]);
    expect(codec.value.fromProtobuf(joined({ a: 1, b: 1 }, { b: 2 }))).toEqual({ a: 1, b: 2 });
    expect(codec.value.fromProtobuf(joined([1], null, [2]))).toEqual([2]);
    for (const before of [null, true, 5, "x", [1]])
      expect(codec.value.fromProtobuf(joined(before, { a: 1 }))).toEqual({ a: 1 });
    for (const before of [null, true, 5, "x", { a: 1 }])
      expect(codec.value.fromProtobuf(joined(before, [1]))).toEqual([1]);
  });

  test("every kind of JSON value survives a round trip in every layout", () => {
    for (const value of [null, true, false, 0, -0.5, "", "é", [], [false, [null]], {}, { a: { b: [true] }, "": 1 }]) {
      expect(codec.value.decode(codec.value.encode(value))).toEqual(value);
      expect(codec.value.fromProtobuf(codec.value.toProtobuf(value))).toEqual(value);
      expect(codec.value.fromJson(codec.value.toJson(value))).toEqual(value);
    }
  });

  test("unknown protobuf fields are skipped, and invalid lockstep bytes are refused", () => {
    expect(codec.value.fromProtobuf(Uint8Array.of(0xa2, 6, 2, 8, 1, 0x20, 1))).toBe(true);
    const kind = codec.value.encode(true);
    kind[4] = 9;
    expect(refusal(() => codec.value.decode(kind))).toBe(
      "cannot decode JsonValue: invalid JsonValue: expected a number from 1 to 7, got 9",
    );
    expect(codec.nullValue.decode(Uint8Array.of(0))).toBe(null);
    expect(refusal(() => codec.nullValue.decode(Uint8Array.of(1)))).toBe(
      "cannot decode NullValue: invalid NullValue: expected 0, got 1",
    );
  });

  test("encode and toProtobuf refuse values that JSON cannot represent", () => {
    expect(refusal(() => codec.struct.toProtobuf({ a: undefined } as never))).toBe(
      'cannot encode Struct["a"]: invalid JsonValue: expected null, a boolean, a number, a string, an array or a plain object, got undefined',
    );
    expect(refusal(() => codec.value.encode(new Date(0) as never))).toBe(
      "cannot encode JsonValue: invalid JsonValue: expected null, a boolean, a number, a string, an array or a plain object, got a Date",
    );
    for (const layout of ["encode", "toProtobuf"] as const) {
      expect(refusal(() => codec.value[layout](["fine", undefined] as never))).toMatch(
        /^cannot encode JsonValue\[1\]: /,
      );
      expect(refusal(() => codec.value[layout]({ a: [1, new Map()] } as never))).toBe(
        'cannot encode JsonValue["a"][1]: invalid JsonValue: expected null, a boolean, a number, a string, an array or a plain object, got a Map',
      );
      expect(refusal(() => codec.value[layout]({ a: "\ud800" }))).toBe(
        'cannot encode JsonValue["a"]: invalid string: expected text without lone surrogates, got "\\ud800"',
      );
      for (const [wrong, got] of [
        [null, "null"],
        [undefined, "undefined"],
        [5, "5"],
        ["a", '"a"'],
        [[], "an array of 0"],
        [new Map(), "a Map"],
      ] as const) {
        expect(refusal(() => codec.struct[layout](wrong as never))).toBe(
          `cannot encode Struct: invalid Struct: expected a plain object, got ${got}`,
        );
      }
      for (const [wrong, got] of [
        [undefined, "undefined"],
        [0, "0"],
      ] as const) {
        expect(refusal(() => codec.nullValue[layout](wrong as never))).toBe(
          `cannot encode NullValue: invalid NullValue: expected null, got ${got}`,
        );
      }
    }
    const circular: unknown[] = [];
    circular.push(circular);
    expect(refusal(() => codec.value.toProtobuf(circular as never))).toMatch(/nested deeper than 256$/);
    expect(refusal(() => codec.value.encode(circular as never))).toMatch(/nested deeper than 256$/);
  });
});
