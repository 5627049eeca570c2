/** Composed codecs of objects, tuples, collections and enumerations, in both layouts and in JSON. */
import { afterEach, describe, expect, test } from "vitest";
import {
  type Codec,
  codec,
  type Reader,
  setWireEnvironment,
  unknownFields,
  type WireEnvironment,
  Writer,
} from "../../runtime/wire/index.js";
import { concat, field, hex, messageOf } from "./protobuf/message-bytes.js";

const layouts = ["encode", "toProtobuf", "toJson"] as const;
const point = codec.object("Point", { x: codec.int32 });

/** The value as it comes back from each layout. */
function roundTrips(of: Codec<unknown>, value: unknown): readonly unknown[] {
  return [of.decode(of.encode(value)), of.fromProtobuf(of.toProtobuf(value)), of.fromJson(of.toJson(value))];
}

function expectBack(of: Codec<unknown>, value: unknown): void {
  for (const back of roundTrips(of, value)) expect(back).toStrictEqual(value);
}

function expectRefused(
  of: Codec<unknown>,
  value: unknown,
  text: string,
  by: readonly (typeof layouts)[number][] = layouts,
) {
  for (const layout of by)
    expect(
      messageOf(() => of[layout](value)),
      layout,
    ).toBe(`CodecError: cannot encode ${text}`);
}

const got: readonly (readonly [unknown, string])[] = [
  [null, "null"],
  [undefined, "undefined"],
  [5, "5"],
  ["a", '"a"'],
];

describe("a value that is not an object, tuple or collection", () => {
  test.each<readonly [Codec<unknown>, string, readonly (readonly [unknown, string])[]]>([
    [point, "Point: invalid Point: expected an object", []],
    [codec.array(codec.int32), "int32[]: invalid array: expected an array", [[new Set(), "a Set"]]],
    [codec.array(point), "Point[]: invalid array: expected an array", [[{}, "an object"]]],
    [codec.set(codec.int32), "Set<int32>: invalid Set: expected a Set", [[[], "an array of 0"]]],
    [codec.map(codec.int32, point), "Map<int32, Point>: invalid Map: expected a Map", [[{}, "an object"]]],
    [codec.map(codec.double, point), "Map<double, Point>: invalid Map: expected a Map", [[{}, "an object"]]],
    [codec.record(point), "Record<string, Point>: invalid Record: expected an object", [[[], "an array of 0"]]],
    [codec.tuple(codec.int32, point), "[int32, Point]: invalid [int32, Point]: expected an array", [[{}, "an object"]]],
    [codec.bytes, "bytes: invalid bytes: expected a Uint8Array", [[new Int8Array(0), "an Int8Array"]]],
    [codec.int16Array, "Int16Array: invalid Int16Array: expected a Int16Array", [[[], "an array of 0"]]],
    [codec.float64Array, "Float64Array: invalid Float64Array: expected a Float64Array", [[[1], "an array of 1"]]],
  ] as never)("is refused by name, alone and as a part, for %#: %s", (of, text, more) => {
    const name = text.slice(0, text.indexOf(": "));
    const rest = text.slice(name.length);
    const holder = codec.object("Holder", { n: codec.int32, part: of }) as Codec<unknown>;
    const pair = codec.tuple(codec.int32, of) as Codec<unknown>;
    for (const [value, what] of [...got, ...more]) {
      expectRefused(of, value, `${text}, got ${what}`);
      expectRefused(holder, { n: 1, part: value }, `Holder.part${rest}, got ${what}`);
      expectRefused(pair, [1, value], `[int32, ${name}][1]${rest}, got ${what}`);
    }
  });

  test("is refused in place of an unpacked list", () => {
    const unpacked = codec.object("M", { list: codec.array(codec.int32) }, { unpacked: ["list"] }) as Codec<unknown>;
    expectRefused(unpacked, { list: {} }, "M.list: invalid array: expected an array, got an object");
    expect(unpacked.fromProtobuf(unpacked.toProtobuf({ list: [1, 2] }))).toEqual({ list: [1, 2] });
  });
});

test("an error about a nested value has the full path to that value", () => {
  const int32 = "invalid int32: expected an integer from -2147483648 to 2147483647, got 0.5";
  for (const [of, value, path] of [
    [codec.nullable(point), { x: 0.5 }, "Point | null.x"],
    [codec.optional(point), { x: 0.5 }, "Point | undefined.x"],
    [codec.array(codec.nullable(point)), [null, { x: 0.5 }], "(Point | null)[][1].x"],
    [codec.set(codec.int32), new Set([1, 0.5]), "Set<int32>[1]"],
    [codec.map(codec.int32, codec.int32), new Map([[0.5, 1]]), "Map<int32, int32>.keys()[0]"],
    [codec.map(codec.int32, codec.int32), new Map([[7, 0.5]]), "Map<int32, int32>[7]"],
    [codec.record(codec.int32), { a: 0.5 }, 'Record<string, int32>["a"]'],
    [codec.tuple(codec.string, codec.int32), ["a", 0.5], "[string, int32][1]"],
    [codec.lazy(() => point), { x: 0.5 }, "Point.x"],
  ] as readonly (readonly [Codec<unknown>, unknown, string])[])
    expectRefused(of, value, `${path}: ${int32}`);
});

describe("objects", () => {
  test("have presence bits for optional fields, in as many bytes as needed", () => {
    const names = Array.from({ length: 17 }, (_, i) => `m${i}`);
    const of = codec.object("Many", Object.fromEntries(names.map((name) => [name, codec.optional(codec.boolean)])));
    for (const [i, name] of names.entries()) {
      for (const value of [{ [name]: true }, { [name]: false }, { [name]: true, m0: true, m16: false }])
        expectBack(of as Codec<unknown>, value);
      const bytes = of.encode({ [name]: true } as never);
      expect(bytes.length).toBe(5);
      expect(bytes[i >> 2]).toBe(3 << ((i & 3) * 2));
    }
    // The last byte of 34 bits uses two bits; the other bits must be zero.
    for (const bit of [4, 8, 128])
      expect(messageOf(() => of.decode(Uint8Array.of(0, 0, 0, 0, bit)))).toBe(
        "CodecError: cannot decode Many: invalid padding bits",
      );
    expect(messageOf(() => of.decode(Uint8Array.of(2, 0, 0, 0, 0)))).toBe(
      "CodecError: cannot decode Many: invalid presence bits",
    );
  });

  test("are refused when unused bits are not zero", () => {
    const names = ["a", "b", "c", "d", "e"];
    const ten = codec.object("Ten", Object.fromEntries(names.map((name) => [name, codec.optional(codec.boolean)])));
    expect(ten.decode(Uint8Array.of(0, 3))).toEqual({ e: true });
    expect(messageOf(() => ten.decode(Uint8Array.of(0, 4)))).toBe(
      "CodecError: cannot decode Ten: invalid padding bits",
    );
    const none = codec.object("None", {});
    expect(none.decode(Uint8Array.of(0))).toEqual({});
    expect(messageOf(() => none.decode(Uint8Array.of(1)))).toBe("CodecError: cannot decode None: invalid padding bits");
    const maybe = codec.object("Maybe", { a: codec.optional(codec.nullable(codec.int32)) });
    expect([maybe.decode(Uint8Array.of(0)), maybe.decode(Uint8Array.of(1))]).toEqual([{}, { a: null }]);
    expect(messageOf(() => maybe.decode(Uint8Array.of(2)))).toBe(
      "CodecError: cannot decode Maybe: invalid presence bits",
    );
  });

  test("can start with a nullable field", () => {
    const of = codec.object("First", { a: codec.nullable(codec.int32), b: codec.int32 }) as Codec<unknown>;
    expectBack(of, { a: null, b: 1 });
    expectBack(of, { a: 2, b: 1 });
  });

  test("are encoded with the getters of their class, but without properties of Object.prototype", () => {
    class Place {
      get x(): number {
        return 7;
      }
    }
    expect(point.decode(point.encode(new Place()))).toEqual({ x: 7 });
    expect(point.fromProtobuf(point.toProtobuf(new Place()))).toEqual({ x: 7 });
    const odd = codec.object("Odd", { toString: codec.optional(codec.int32) }) as Codec<unknown>;
    expect(odd.decode(odd.encode({}))).toEqual({});
    expect(odd.decode(odd.encode({ toString: 5 }))).toEqual({ toString: 5 });
  });

  test("of types that are not recursive nest deeper than 256 levels", () => {
    let deep: Codec<unknown> = codec.int32 as Codec<unknown>;
    let value: unknown = 1;
    for (let i = 0; i < 300; i++) {
      const inner = deep;
      deep = codec.object(`M${i}`, () => ({ next: inner })) as Codec<unknown>;
      value = { next: value };
    }
    expect(deep.decode(deep.encode(value))).toEqual(value);
  });

  test("of recursive types are refused when they nest deeper than 256 levels", () => {
    interface Tree {
      n: number;
      next?: Tree;
    }
    const tree: Codec<Tree> = codec.object<Tree>("Tree", () => ({ n: codec.int32, next: codec.optional(tree) }));
    const both = codec.tuple(codec.array(point), tree);
    const points = Array.from({ length: 20 }, (_, x) => ({ x }));
    const nested = (depth: number): Tree => (depth === 1 ? { n: 1 } : { n: depth, next: nested(depth - 1) });
    expect(both.decode(both.encode([points, nested(256)]))).toEqual([points, nested(256)]);
    expect(() => both.encode([points, nested(257)])).toThrow("nested deeper than 256");
    const w = new Writer();
    w.depth = -10;
    both.encodeInto(w, [points, nested(257)]);
    expect(() => both.decode(w.copy(0))).toThrow("nested deeper than 256");
    const later: Codec<Tree> = codec.object<Tree>("Tree", {
      n: codec.int32,
      next: codec.optional(codec.lazy(() => later)),
    });
    expect(later.decode(later.encode(nested(256)))).toEqual(nested(256));
    expect(() => later.encode(nested(257))).toThrow("nested deeper than 256");
    const circular: Tree = { n: 1 };
    circular.next = circular;
    expect(() => tree.encode(circular)).toThrow("nested deeper than 256");
  });

  test("keep the unknown fields of all parts that are merged into them", () => {
    const [first, second] = [hex("f8 07 01"), hex("f8 07 02")];
    const holder = codec.object("Holder", { point });
    const value = holder.fromProtobuf(concat(field(1, first), field(1, concat(hex("08 05"), second))));
    expect(value.point).toEqual({ x: 5, [unknownFields]: concat(first, second) });
  });

  test("have the JSON names from the options", () => {
    const of = codec.object("Named", { one: codec.int32, two: codec.int32 }, { json: { two: "zwei" } });
    expect(of.toJson({ one: 1, two: 2 })).toEqual({ one: 1, zwei: 2 });
    expect(of.fromJson({ one: 1, zwei: 2 })).toEqual({ one: 1, two: 2 });
  });
});

describe("tuples", () => {
  test("end with the last element that is present", () => {
    const of = codec.tuple(codec.int32, codec.optional(codec.string), codec.optional(codec.int32)) as Codec<unknown>;
    for (const value of [[1], [1, "a"], [1, undefined, 3], [1, "a", 3]]) expectBack(of, value);
    const none = codec.tuple(codec.optional(codec.int32)) as Codec<unknown>;
    for (const value of [[], [5]]) expectBack(none, value);
    expectRefused(
      none,
      [1, 2],
      "[int32 | undefined]: invalid [int32 | undefined]: expected at most 1 elements, got an array of 2",
    );
  });

  test("with a rest element have any number of values, and the rest of later parts is appended", () => {
    for (const of of [
      codec.tupleWithRest([codec.int32, codec.string], codec.string),
      codec.tupleWithRest([codec.int32, codec.string], codec.nullable(codec.string)),
    ] as Codec<unknown>[]) {
      for (const value of [
        [1, "a"],
        [1, "a", "b"],
        [1, "a", "b", "c", "d"],
      ])
        expectBack(of, value);
      expect([of.text, of.bulk]).toEqual([true, false]);
    }
    const words = codec.tupleWithRest([codec.int32], codec.string) as Codec<unknown>;
    expect(words.text).toBe(true);
    expectBack(words, [1, "a", "b"]);
    expectRefused(words, [1, "a", 5], "[int32, ...string[]][1]: invalid string: expected a string, got 5");
    expect(codec.tupleWithRest([codec.string], codec.int32).text).toBe(true);
    const holder = codec.object("Holder", { words });
    const parts = [
      [1, "a", "b"],
      [2, "c"],
    ].map((value) => holder.toProtobuf({ words: value }));
    expect(holder.fromProtobuf(concat(...parts))).toEqual({ words: [2, "a", "b", "c"] });
  });

  test("of parameters have the names of the parameters, or the names from the options", () => {
    const of = codec.parameters(
      "call",
      { first: codec.int32, second: codec.int32 },
      { names: { second: "other_one" } },
    );
    expect(of.toJson([1, 2])).toEqual({ first: 1, otherOne: 2 });
    expect(of.fromJson({ first: 1, other_one: 2 })).toEqual([1, 2]);
    expectRefused(
      of as Codec<unknown>,
      [1, "a"],
      'call(second): invalid int32: expected an integer from -2147483648 to 2147483647, got "a"',
    );
  });
});

describe("collections", () => {
  test("report whether they contain text or bulk data", () => {
    for (const of of [codec.array, codec.set, codec.record, codec.nullable, codec.optional] as const)
      expect([of(codec.int32).text, of(codec.bytes).bulk, of(codec.bytes).text]).toEqual([
        of === codec.record,
        true,
        of === codec.record,
      ]);
    expect([codec.map(codec.string, codec.int32).text, codec.map(codec.int32, codec.string).text]).toEqual([
      true,
      true,
    ]);
    expect([codec.lazy(() => codec.string).text, codec.lazy(() => codec.int32).text]).toEqual([true, false]);
  });

  test("of doubles are aligned, except when they are empty", () => {
    const of = codec.tuple(codec.int32, codec.array(codec.double), codec.boolean) as Codec<unknown>;
    expect(of.encode([1, [], true]).length).toBeLessThan(8);
    for (const value of [
      [1, [], true],
      [1, [0.5], false],
      [1, [0.5, 1.5, 2.5, 3.5, 4.5], true],
    ])
      expectBack(of, value);
  });

  test("have elements of any slot size", () => {
    expectBack(codec.set(codec.double) as Codec<unknown>, new Set([1, 2, 3]));
    expectBack(codec.set(codec.boolean) as Codec<unknown>, new Set([true]));
    expectBack(
      codec.map(codec.double, codec.int32) as Codec<unknown>,
      new Map([
        [0.5, 1],
        [1.5, 2],
      ]),
    );
    expectBack(codec.record(codec.double) as Codec<unknown>, { a: 1, b: 2 });
    expectBack(codec.array(codec.nullable(codec.int64)) as Codec<unknown>, [1n, null, 3n]);
  });

  test("with duplicate keys or elements are refused by decode", () => {
    const twice = Uint8Array.of(2, 0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0);
    expect(messageOf(() => codec.set(codec.int32).decode(twice))).toBe(
      "CodecError: cannot decode Set<int32>: invalid Set: 7 is in it twice",
    );
    const entries = Uint8Array.of(2, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0);
    expect(messageOf(() => codec.map(codec.int32, codec.int32).decode(entries))).toBe(
      "CodecError: cannot decode Map<int32, int32>: invalid Map: the key 7 is in it twice",
    );
  });
});

test("a nullable value begins with a byte that is 0 or 1", () => {
  const of = codec.nullable(codec.int32);
  expect([...of.encode(null)]).toEqual([0]);
  expect([...of.encode(7)]).toEqual([1, 7, 0, 0, 0]);
  expect(messageOf(() => of.decode(Uint8Array.of(2, 7, 0, 0, 0)))).toBe(
    "CodecError: cannot decode int32 | null: invalid int32 | null: expected 0 or 1, got 2",
  );
});

test("a numeric enum from 0 on is encoded as its number, and other numbers are refused", () => {
  for (const [name, shown] of [
    ["Level", "Level"],
    ["", "enum"],
  ] as const) {
    const level = codec.enumeration(name, [0, 1, 2]) as Codec<unknown>;
    for (const value of [0, 1, 2]) {
      expect([...level.encode(value)]).toEqual([value]);
      expect(level.decode(Uint8Array.of(value))).toBe(value);
    }
    expectRefused(level, 1n, `${name}: invalid ${shown}: expected an integer from 0 to 2, got 1n`, ["encode"]);
    for (const [value, text] of [...got.filter(([wrong]) => wrong !== 5), [3, "3"], [-1, "-1"], [0.5, "0.5"]] as const)
      expectRefused(level, value, `${name}: invalid ${shown}: expected an integer from 0 to 2, got ${text}`, [
        "encode",
      ]);
    expect(messageOf(() => level.decode(Uint8Array.of(3)))).toBe(
      `CodecError: cannot decode ${name}: invalid ${shown}: expected a number up to 2, got 3`,
    );
  }
});

test("a string enum is encoded as the index of its value, and other values are refused", () => {
  for (const [name, shown] of [
    ["Color", "Color"],
    ["", "enum"],
  ] as const) {
    const color = codec.enumeration(name, ["red", "green"]) as Codec<unknown>;
    expectBack(color, "green");
    expectRefused(color, "blue", `${name}: invalid ${shown}: expected "red" or "green", got "blue"`, ["encode"]);
    expect(messageOf(() => color.decode(Uint8Array.of(2)))).toBe(
      `CodecError: cannot decode ${name}: invalid ${shown}: expected a number below 2, got 2`,
    );
    expect(messageOf(() => codec.nullable(color).decode(Uint8Array.of(1, 2)))).toBe(
      `CodecError: cannot decode ${name} | null: invalid ${shown}: expected a number below 2, got 2`,
    );
  }
});

test("a lazy codec behaves like the codec that it refers to", () => {
  const later = codec.lazy(() => point);
  expectBack(later as Codec<unknown>, { x: 5 });
  expectBack(codec.array(codec.lazy(() => codec.array(codec.double))) as Codec<unknown>, [[1], [], [2, 3]]);
  expect([later.name, later.slot, later.fingerprint]).toEqual([point.name, point.slot, point.fingerprint]);
});

test("a list that is a oneof case is merged with an earlier part", () => {
  const choice = codec.oneof("Choice", () => ({ list: codec.array(codec.int32), set: codec.set(codec.string) }));
  const [first, second] = [[1, 2], [3]].map((value) => choice.toProtobuf({ case: "list", value }));
  expect(choice.fromProtobuf(concat(first as Uint8Array, second as Uint8Array))).toEqual({
    case: "list",
    value: [1, 2, 3],
  });
});

test("a date is decoded only from whole milliseconds in the range of Date", () => {
  const decode = (time: number) => codec.date.decode(new Uint8Array(Float64Array.of(time).buffer));
  expect(decode(-1)).toEqual(new Date(-1));
  for (const [time, shown] of [
    [0.5, "0.5"],
    [8.64e15 + 2, "8640000000000002"],
    [Number.NaN, "NaN"],
  ] as const)
    expect(messageOf(() => decode(time))).toBe(
      `CodecError: cannot decode date: invalid date: expected whole milliseconds from -8.64e15 to 8.64e15, got ${shown}`,
    );
});

test("a generic type has one codec for the same arguments, and other codecs for other arguments", () => {
  const triple = codec.generic(
    1n,
    (a: Codec<never>, b: Codec<never>, c: Codec<never>) => codec.tuple(a, b, c) as never,
  );
  const [a, b, c] = [codec.int32, codec.string, codec.boolean] as unknown as Codec<never>[] as [
    Codec<never>,
    Codec<never>,
    Codec<never>,
  ];
  expect(triple(a, b, c)).toBe(triple(a, b, c));
  const others = [triple(a, c, c), triple(b, b, c), triple(a, b, b), triple(a, b, a), triple(b, a, c)];
  expect(new Set([triple(a, b, c), ...others]).size).toBe(6);
});

describe("well-known wrappers", () => {
  test("are known to Any, as are the other types of google.protobuf", () => {
    const messages: Readonly<Record<string, unknown>> = {
      ...{ Timestamp: "1970-01-01T00:00:00Z", Duration: "1s", FieldMask: "a", Struct: { a: 1 }, Value: 1 },
      ...{ ListValue: [1], DoubleValue: 1, FloatValue: 1, Int64Value: "1", UInt64Value: "1", Int32Value: 1 },
      ...{ UInt32Value: 1, BoolValue: true, StringValue: "a", BytesValue: "AQ==" },
    };
    for (const [name, value] of Object.entries(messages)) {
      const any = { "@type": `type.googleapis.com/google.protobuf.${name}`, value };
      expect(codec.any.toJson(codec.any.fromJson(any as never))).toEqual(any);
    }
    const none = { "@type": "type.googleapis.com/google.protobuf.Empty" };
    expect(codec.any.toJson(codec.any.fromJson(none))).toEqual(none);
  });

  test.each<[string, Codec<{ value: unknown }>, unknown, unknown, unknown]>([
    ["DoubleValue", codec.doubleValue as never, 0, 1.5, 1.5],
    ["FloatValue", codec.floatValue as never, 0, 1.5, 1.5],
    ["Int64Value", codec.int64Value as never, 0n, -5n, "-5"],
    ["UInt64Value", codec.uInt64Value as never, 0n, 5n, "5"],
    ["Int32Value", codec.int32Value as never, 0, -5, -5],
    ["UInt32Value", codec.uInt32Value as never, 0, 5, 5],
    ["BoolValue", codec.boolValue as never, false, true, true],
    ["StringValue", codec.stringValue as never, "", "a", "a"],
    ["BytesValue", codec.bytesValue as never, new Uint8Array(0), Uint8Array.of(1), "AQ=="],
  ])("%s is the wrapped value in JSON, and has a default when it is absent", (name, of, zero, value, json) => {
    const holder = codec.object("Holder", { of }) as Codec<{ of: unknown }>;
    expect(holder.fromJson({})).toEqual({ of: { value: zero } });
    expect(holder.toJson({ of: { value } })).toEqual({ of: json });
    expect(holder.fromJson({ of: json })).toEqual({ of: { value } });
    expect(messageOf(() => holder.toJson({ of: 5 }))).toBe(
      `CodecError: cannot encode Holder.of: invalid ${name}: expected an object, got 5`,
    );
    expect(messageOf(() => of.encode(5 as never))).toBe(
      `CodecError: cannot encode ${name}: invalid ${name}: expected an object, got 5`,
    );
  });

  test("the other well-known types have their names of google.protobuf", () => {
    const others = [codec.timestamp, codec.duration, codec.fieldMask, codec.empty, codec.any] as Codec<unknown>[];
    expect(others.map(({ name }) => name)).toEqual(["Timestamp", "Duration", "FieldMask", "Empty", "Any"]);
  });
});

describe("handles", () => {
  afterEach(() => setWireEnvironment(undefined));
  const named = {
    writePort: (w: Writer, value: unknown) => w.string(value as string),
    readPort: (r: Reader) => r.string(),
  } as unknown as WireEnvironment;
  const port = codec.port<string>(() => codec.int32);

  test("are refused when they are longer or shorter than their encoded length", () => {
    setWireEnvironment(named);
    const holder = codec.tuple(port, codec.int32);
    const bytes = holder.encode(["p", 7]);
    expect(holder.decode(bytes)).toEqual(["p", 7]);
    const lengthAt = 4;
    expect(bytes[lengthAt]).toBe(1);
    for (const [length, why] of [
      [2, "the message ends too early"],
      [0, "the message ends too early"],
    ] as const) {
      const wrong = bytes.slice();
      wrong[lengthAt] = length;
      expect(messageOf(() => holder.decode(wrong))).toBe(`CodecError: cannot decode [Port<int32>, int32][0]: ${why}`);
    }
    setWireEnvironment({ ...named, readPort: () => "nothing" });
    expect(messageOf(() => holder.decode(bytes))).toBe(
      "CodecError: cannot decode [Port<int32>, int32][0]: invalid Port<int32>: there is more than it needs",
    );
  });

  test("keep the last value that was sent, and drop unknown fields beside it", () => {
    setWireEnvironment(named);
    const holder = codec.object("Holder", { port });
    const [first, second] = ["one", "two"].map((name) => field(1, port.encode(name))) as [Uint8Array, Uint8Array];
    const unknown = field(2, port.encode("other"));
    expect(holder.fromProtobuf(field(1, concat(unknown, first, unknown)))).toEqual({ port: "one" });
    expect(holder.fromProtobuf(concat(field(1, first), field(1, unknown)))).toEqual({ port: "one" });
    expect(holder.fromProtobuf(concat(field(1, first), field(1, second)))).toEqual({ port: "two" });
  });

  test("report the cause when they cannot be written", () => {
    const cause = new Error("it is gone");
    setWireEnvironment({
      ...named,
      writePort: () => {
        throw cause;
      },
    });
    expect(() => port.encode("p")).toThrow(
      expect.objectContaining({ message: "cannot encode Port<int32>: it is gone", cause }),
    );
  });

  test("report the cause when they cannot be read", () => {
    const cause = new Error("it is gone");
    setWireEnvironment({
      ...named,
      readPort: () => {
        throw cause;
      },
    });
    const holder = codec.object("Holder", { port });
    const state = Uint8Array.of(8, 0, 0, 0, 0, 0, 0, 0);
    expect(() => holder.fromProtobuf(field(1, field(1, state)))).toThrow(
      expect.objectContaining({ message: "cannot decode Holder.port: it is gone", cause }),
    );
  });
});
