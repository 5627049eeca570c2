/** The semantics of messages for composed codecs: presence, order, merging and unknown fields. */
import { expect, test } from "vitest";
import { type Codec, codec, unknownFields } from "../../../runtime/wire/index.js";
import { concat, field, hex, messageOf, toHex } from "./message-bytes.js";

const color = codec.enumeration<"red" | "green">("Color", ["red", "green"], { numbers: [1, 4] });
const level = codec.enumeration<number>("Level", [0, 10, 20]);
const point = codec.object("Point", { x: codec.double, y: codec.double });

test("a default scalar is left out with implicit presence, and written with explicit presence", () => {
  const implicit = codec.object("I", {
    a: codec.int32,
    b: codec.string,
    c: codec.boolean,
    d: codec.uint64,
    e: codec.bytes,
    f: level,
    g: codec.double,
    h: codec.uint8ClampedArray,
  });
  const zeros = {
    a: 0,
    b: "",
    c: false,
    d: 0n,
    e: new Uint8Array(),
    f: 0,
    g: 0,
    h: new Uint8ClampedArray(),
  };
  expect(implicit.toProtobuf(zeros)).toEqual(new Uint8Array(0));
  expect(implicit.fromProtobuf(new Uint8Array(0))).toStrictEqual(zeros);
  expect(toHex(implicit.toProtobuf({ ...zeros, g: -0 }))).toBe("390000000000000080");
  const explicit = codec.object("E", { a: codec.optional(codec.int32), b: codec.nullable(codec.string) });
  expect(toHex(explicit.toProtobuf({ a: 0, b: "" }))).toBe("08001200");
  expect(explicit.toProtobuf({ b: null })).toEqual(new Uint8Array(0));
  expect(explicit.fromProtobuf(new Uint8Array(0))).toStrictEqual({ b: null });
  expect(explicit.fromProtobuf(hex("0800"))).toStrictEqual({ a: 0, b: null });
});

test("negative zero, infinities and NaN payloads survive a round trip", () => {
  const bits = hex("0a 10 01 00 00 00 00 00 f8 7f 00 00 00 00 00 00 00 80");
  const array = codec.float64Array.fromProtobuf(bits);
  expect(array[0]).toBeNaN();
  expect(array[1]).toBe(-0);
  expect(codec.float64Array.toProtobuf(array)).toEqual(bits);
  for (const number of [-0, Number.NaN, Number.POSITIVE_INFINITY, 5e-324]) {
    expect(codec.double.fromProtobuf(codec.double.toProtobuf(number))).toBe(number);
    expect(
      codec.array(codec.float32).fromProtobuf(codec.array(codec.float32).toProtobuf([Math.fround(number)])),
    ).toEqual([Math.fround(number)]);
  }
});

test("a missing message is read as an empty one, and a missing enum or oneof is refused", () => {
  const whole = codec.object("W", {
    at: codec.date,
    p: point,
    t: codec.tuple(codec.int32, codec.optional(codec.string)),
  });
  const value = { at: new Date(0), p: { x: 0, y: 0 }, t: [0] as [number] };
  expect(toHex(whole.toProtobuf(value as never))).toBe("0a0012001a00");
  expect(whole.fromProtobuf(new Uint8Array(0))).toStrictEqual(value);
  const demanding = codec.object("D", { c: color });
  expect(messageOf(() => demanding.fromProtobuf(new Uint8Array(0)))).toBe(
    "CodecError: cannot decode D.c: it is missing, and has no default",
  );
  const inside = codec.object("O", { d: demanding, o: oneof });
  expect(messageOf(() => inside.fromProtobuf(new Uint8Array(0)))).toBe(
    "CodecError: cannot decode O.d.c: it is missing, and has no default",
  );
  expect(messageOf(() => inside.fromProtobuf(hex("0a 02 08 01")))).toBe(
    'CodecError: cannot decode O.o: invalid Any: expected "n", "text", "point" or "list", got none of them',
  );
});

type Any =
  | { case: "n"; value: number }
  | { case: "text"; value: string }
  | { case: "point"; value: { x: number; y: number } }
  | { case: "list"; value: number[] };
const oneof: Codec<Any> = codec.oneof<Any>(
  "Any",
  () => ({ n: codec.uint32, text: codec.string, point, list: codec.array(codec.uint32) }),
  { numbers: [1, 2, 3, 9] },
);

test("fields are read in any order, and the last of duplicate fields wins", () => {
  const two = codec.object("Two", { a: codec.int32, b: codec.string }, { numbers: [7, 3] });
  // Fields are written in the order of their numbers.
  expect(toHex(two.toProtobuf({ a: 1, b: "x" }))).toBe("1a01783801");
  expect(two.fromProtobuf(hex("38 01 1a 01 78 38 02 1a 01 79"))).toStrictEqual({ a: 2, b: "y" });
});

test("messages that occur twice are merged with all their fields", () => {
  const inner = codec.object("Inner", {
    n: codec.int32,
    list: codec.array(codec.int32),
    set: codec.set(codec.string),
    map: codec.map(codec.string, codec.int32),
    record: codec.record(codec.int32),
    typed: codec.int32Array,
    maybe: codec.nullable(point),
    at: codec.date,
    one: codec.nullable(oneof),
    pair: codec.tuple(codec.int32, codec.int32),
  });
  const outer = codec.object("Outer", { inner });
  const first = inner.toProtobuf({
    n: 1,
    list: [1],
    set: new Set(["a"]),
    map: new Map([
      ["a", 1],
      ["b", 1],
    ]),
    record: { a: 1 },
    typed: Int32Array.of(1),
    maybe: { x: 1, y: 0 },
    at: new Date(5000),
    one: { case: "point", value: { x: 1, y: 0 } },
    pair: [1, 0],
  });
  const second = inner.toProtobuf({
    n: 0,
    list: [2, 3],
    set: new Set(["a", "b"]),
    map: new Map([["b", 2]]),
    record: { c: 2 },
    typed: Int32Array.of(2, 3),
    maybe: { x: 0, y: 2 },
    at: new Date(7),
    one: { case: "point", value: { x: 0, y: 2 } },
    pair: [0, 2],
  });
  const merged = {
    n: 1,
    list: [1, 2, 3],
    set: new Set(["a", "b"]),
    map: new Map([
      ["a", 1],
      ["b", 2],
    ]),
    record: { a: 1, c: 2 },
    typed: Int32Array.of(1, 2, 3),
    maybe: { x: 1, y: 2 },
    at: new Date(5007),
    one: { case: "point", value: { x: 1, y: 2 } },
    pair: [1, 2],
  };
  expect(outer.fromProtobuf(concat(field(1, first), field(1, second)))).toStrictEqual({ inner: merged });
  expect(inner.fromProtobuf(concat(first, second))).toStrictEqual(merged);
});

test("packed, unpacked and mixed lists are read alike", () => {
  const list = codec.array(codec.sint32);
  expect(toHex(list.toProtobuf([1, -1]))).toBe("0a020201");
  expect(list.fromProtobuf(hex("08 02 0a 02 01 04 08 03"))).toEqual([1, -1, 2, -2]);
  const doubles = codec.float64Array;
  const one = "00 00 00 00 00 00 f0 3f";
  expect(doubles.fromProtobuf(hex(`09 ${one} 0a 08 ${one} 09 ${one}`))).toStrictEqual(Float64Array.of(1, 1, 1));
  expect(codec.uint16Array.fromProtobuf(hex("08 ff ff 03 0a 01 05"))).toStrictEqual(Uint16Array.of(65535, 5));
  const colors = codec.array(color);
  expect(colors.fromProtobuf(hex("0a 02 01 04 08 01"))).toEqual(["red", "green", "red"]);
});

test("the last case of a oneof wins, and parts of the same case are merged", () => {
  expect(oneof.fromProtobuf(hex("08 05 12 01 61"))).toStrictEqual({ case: "text", value: "a" });
  const x = point.toProtobuf({ x: 1, y: 0 });
  const y = point.toProtobuf({ x: 0, y: 1 });
  expect(oneof.fromProtobuf(concat(field(3, x), field(3, y)))).toStrictEqual({ case: "point", value: { x: 1, y: 1 } });
  const between = concat(field(3, x), hex("08 05"), field(3, y));
  expect(oneof.fromProtobuf(between)).toStrictEqual({ case: "point", value: { x: 0, y: 1 } });
  expect(oneof.fromProtobuf(hex("08 00"))).toStrictEqual({ case: "n", value: 0 });
  expect(oneof.fromProtobuf(oneof.toProtobuf({ case: "list", value: [] }))).toStrictEqual({ case: "list", value: [] });
});

test("an unknown case is kept with its bytes", () => {
  const unknown = oneof.fromProtobuf(hex("a2 06 01 41"));
  expect(unknown).toMatchObject({ case: "$unknown", value: undefined });
  expect(toHex(oneof.toProtobuf(unknown))).toBe("a2060141");
  expect(messageOf(() => oneof.toProtobuf({ case: "$unknown", value: undefined } as never))).toBe(
    'CodecError: cannot encode Any: invalid Any: expected the unknown fields that make it, got "none"',
  );
  // The lockstep layout cannot encode such a value.
  expect(messageOf(() => oneof.encode(unknown))).toContain("expected case to be");
});

interface Circle {
  kind: "circle";
  r: number;
}
interface Square {
  kind: "square";
  a: number;
}
const shape = codec.union<Circle | Square>(
  "Shape",
  "kind",
  () => ({ circle: codec.object("", { r: codec.double }), square: codec.object("", { a: codec.double }) }),
  { numbers: [2, 5] },
);

test("a union is written as a oneof of its variants, without the discriminant", () => {
  const bytes = shape.toProtobuf({ kind: "square", a: 1 });
  expect(toHex(bytes)).toBe("2a0909000000000000f03f");
  expect(shape.fromProtobuf(bytes)).toStrictEqual({ kind: "square", a: 1 });
  const unknown = shape.fromProtobuf(hex("32 00"));
  expect(unknown).toStrictEqual({ kind: "$unknown", [unknownFields]: hex("32 00") });
  expect(shape.toProtobuf(unknown)).toEqual(hex("32 00"));
  // The variant's own unknown fields are the ones that are kept.
  const grown = shape.fromProtobuf(field(2, hex("f8 07 01")));
  expect(grown).toStrictEqual({ kind: "circle", r: 0, [unknownFields]: hex("f8 07 01") });
  expect(shape.toProtobuf(grown)).toEqual(field(2, hex("f8 07 01")));
  expect(messageOf(() => shape.toProtobuf({ kind: "oval" } as never))).toBe(
    'CodecError: cannot encode Shape: invalid Shape: expected kind to be "circle" or "square", got "oval"',
  );
});

test("the cases of a flat oneof are fields of its message", () => {
  const flat = codec.object(
    "Flat",
    {
      id: codec.uint32,
      choice: oneof,
      other: codec.optional(
        codec.oneof<{ case: "z"; value: string }>("", () => ({ z: codec.string }), { numbers: [8] }),
      ),
    },
    { numbers: [5, 0, 0], flat: ["choice", "other"] },
  );
  const value = { id: 7, choice: { case: "text" as const, value: "a" } };
  expect(toHex(flat.toProtobuf(value))).toBe("1201612807");
  expect(flat.fromProtobuf(hex("28 07 12 01 61"))).toStrictEqual(value);
  expect(flat.fromProtobuf(hex("08 01 42 00 12 01 61"))).toStrictEqual({
    id: 0,
    choice: { case: "text", value: "a" },
    other: { case: "z", value: "" },
  });
  expect(messageOf(() => flat.fromProtobuf(hex("28 07")))).toBe(
    'CodecError: cannot decode Flat.choice: invalid Any: expected "n", "text", "point" or "list", got none of them',
  );
  // The field may be a case that this schema does not have.
  const unknown = flat.fromProtobuf(hex("28 07 a0 06 01"));
  expect(unknown).toMatchObject({ id: 7, choice: { case: "$unknown" } });
  expect(flat.toProtobuf(unknown)).toEqual(hex("28 07 a0 06 01"));
  expect(messageOf(() => flat.toProtobuf({ id: 1, choice: { case: "zz", value: 1 } as never }))).toBe(
    'CodecError: cannot encode Flat.choice: invalid Any: expected case to be "n", "text", "point" or "list", got "zz"',
  );
  expect(messageOf(() => flat.toProtobuf({ id: 1, choice: { case: "n", value: -1 } }))).toBe(
    "CodecError: cannot encode Flat.choice.value: invalid uint32: expected an integer from 0 to 4294967295, got -1",
  );
});

test("enums are open: unknown numbers survive a round trip", () => {
  expect(toHex(color.toProtobuf("green"))).toBe("0804");
  expect(color.fromProtobuf(hex("08 05"))).toBe("$unknown:5");
  expect(color.fromProtobuf(hex("08 00"))).toBe("$unknown:0");
  expect(color.fromProtobuf(hex("08 ff ff ff ff ff ff ff ff ff 01"))).toBe("$unknown:-1");
  expect(toHex(color.toProtobuf("$unknown:-1" as never))).toBe("08ffffffffffffffffff01");
  for (const bad of ["$unknown:", "$unknown:1.5", "$unknown:007", "$unknown:-0", "$unknown:2147483648", "blue"]) {
    expect(messageOf(() => color.toProtobuf(bad as never))).toBe(
      `CodecError: cannot encode Color: invalid Color: expected "red" or "green", got "${bad}"`,
    );
  }
  expect(level.fromProtobuf(hex("08 07"))).toBe(7);
  expect(toHex(level.toProtobuf(7))).toBe("0807");
  expect(messageOf(() => level.toProtobuf(1.5))).toBe(
    "CodecError: cannot encode Level: invalid Level: expected an integer from -2147483648 to 2147483647, got 1.5",
  );
});

test("unknown fields are kept in order behind the known ones, also in a copy by object spread", () => {
  const value = point.fromProtobuf(hex("a0 06 01 09 00 00 00 00 00 00 f0 3f aa 06 01 41 a0 06 02"));
  expect(value).toStrictEqual({ x: 1, y: 0, [unknownFields]: hex("a0 06 01 aa 06 01 41 a0 06 02") });
  expect(toHex(point.toProtobuf({ ...value, x: 0, y: 1 }))).toBe("11000000000000f03fa00601aa060141a00602");
  expect(point.decode(point.encode(value))).toStrictEqual({ x: 1, y: 0 });
  expect(messageOf(() => point.toProtobuf({ x: 0, y: 0, [unknownFields]: "08" } as never))).toBe(
    "CodecError: cannot encode Point: invalid unknown fields: expected a Uint8Array",
  );
});

test("map entries have defaults, the last entry wins, and keys such as doubles need entry messages", () => {
  const map = codec.map(codec.string, point);
  expect(map.fromProtobuf(hex("0a 00"))).toStrictEqual(new Map([["", { x: 0, y: 0 }]]));
  expect(
    map.fromProtobuf(hex("0a 03 0a 01 61 0a 03 12 00 78 0a 03 0a 01 61".replace("12 00 78", "0a 01 62"))),
  ).toStrictEqual(
    new Map([
      ["a", { x: 0, y: 0 }],
      ["b", { x: 0, y: 0 }],
    ]),
  );
  expect(toHex(codec.map(codec.int32, codec.string).toProtobuf(new Map([[0, ""]])))).toBe("0a0408001200");
  expect(toHex(codec.map(codec.double, codec.string).toProtobuf(new Map([[0, ""]])))).toBe("0a00");
  const record = codec.record(codec.int32).fromProtobuf(hex("0a 0d 0a 09 5f 5f 70 72 6f 74 6f 5f 5f 10 05"));
  expect(Object.entries(record)).toEqual([["__proto__", 5]]);
  expect(messageOf(() => codec.map(codec.string, color).fromProtobuf(hex("0a 03 0a 01 61")))).toBe(
    'CodecError: cannot decode Map<string, Color>["a"]: it is missing, and has no default',
  );
});

test("types that protobuf does not have are written as messages", () => {
  expect(toHex(codec.array(codec.array(codec.uint32)).toProtobuf([[1], []]))).toBe("0a030a01010a00");
  expect(toHex(codec.array(codec.nullable(codec.uint32)).toProtobuf([0, null]))).toBe("0a0208000a00");
  expect(toHex(codec.map(codec.string, codec.array(codec.uint32)).toProtobuf(new Map([["a", [1]]])))).toBe(
    "0a080a016112030a0101",
  );
  expect(toHex(codec.uint32.toProtobuf(5))).toBe("0805");
  expect(toHex(codec.optional(codec.nullable(codec.uint32)).toProtobuf(null))).toBe("0a00");
  const tri = codec.object("T", {
    x: codec.optional(codec.nullable(codec.uint32)),
    l: codec.optional(codec.array(codec.uint32)),
  });
  for (const [value, bytes] of [
    [{}, ""],
    [{ x: null }, "0a00"],
    [{ x: 0 }, "0a020800"],
    [{ l: [] }, "1200"],
    [{ l: [1] }, "12030a0101"],
  ] as const) {
    expect(toHex(tri.toProtobuf(value as never))).toBe(bytes);
    expect(tri.fromProtobuf(hex(bytes))).toStrictEqual(value);
  }
  expect(toHex(codec.tupleWithRest<number[]>([codec.uint32], codec.uint32).toProtobuf([1, 2, 3]))).toBe("080112020203");
});

test("a nullable codec of a type that is already nullable adds no second level of null", () => {
  const id = codec.lazy(() => codec.nullable(codec.uint32));
  const holder = codec.object("Holder", { id: codec.nullable(id) });
  expect(toHex(holder.toProtobuf({ id: 0 }))).toBe("0800");
  expect(holder.fromProtobuf(hex(""))).toStrictEqual({ id: null });
  expect(toHex(codec.array(codec.nullable(id)).toProtobuf([0, null]))).toBe("0a0208000a00");
});

test("arguments are written as a message with the ids of the parameters", () => {
  const args = codec.parameters<[number, string?]>(
    "add",
    { by: codec.int32, note: codec.optional(codec.string) },
    { numbers: [3, 1] },
  );
  expect(toHex(args.toProtobuf([5]))).toBe("1805");
  expect(args.fromProtobuf(hex("18 05"))).toStrictEqual([5]);
  expect(messageOf(() => args.toProtobuf([1.5]))).toBe(
    "CodecError: cannot encode add(by): invalid int32: expected an integer from -2147483648 to 2147483647, got 1.5",
  );
});

test("a date is a timestamp that is cut to milliseconds", () => {
  expect(toHex(codec.date.toProtobuf(new Date(-1)))).toBe("08ffffffffffffffffff0110c08faedc03");
  expect(codec.date.fromProtobuf(hex("08 01 10 ff 93 eb dc 03"))).toStrictEqual(new Date(1999));
  for (const time of [0, -1, 8.64e15, -8.64e15, 1.7e12 + 0.5]) {
    expect(codec.date.fromProtobuf(codec.date.toProtobuf(new Date(time)))).toStrictEqual(new Date(time));
  }
  expect(messageOf(() => codec.date.fromProtobuf(hex("08 ff ff ff ff ff ff ff ff 7f")))).toBe(
    "CodecError: cannot decode date: invalid date: expected a time from -8.64e15 to 8.64e15 ms",
  );
});

test("a getter can encode another message while its object is being encoded", () => {
  const inner = codec.object("Inner", { x: codec.int32 });
  const outer = codec.object("Outer", { before: codec.string, text: codec.string });
  const value = {
    before: "b",
    get text(): string {
      return String(inner.fromProtobuf(inner.toProtobuf({ x: 7 })).x);
    },
  };
  expect(toHex(outer.toProtobuf(value))).toBe("0a0162120137");
});

test("wrong values are refused with the path of the field", () => {
  const deep = codec.object("Deep", {
    list: codec.array(codec.object("Item", { qty: codec.int32 })),
    tags: codec.map(codec.string, codec.array(codec.string)),
    set: codec.set(codec.uint32),
    pairs: codec.tuple(codec.nullable(codec.string), codec.int32),
  });
  const good = {
    list: [{ qty: 1 }],
    tags: new Map([["a", ["b"]]]),
    set: new Set([1]),
    pairs: [null, 1] as [null, number],
  };
  const reason = (change: object) => messageOf(() => deep.toProtobuf({ ...good, ...change } as never));
  expect(reason({ list: [{ qty: 1 }, { qty: Number.NaN }] })).toBe(
    "CodecError: cannot encode Deep.list[1].qty: invalid int32: expected an integer from -2147483648 to 2147483647, got NaN",
  );
  expect(reason({ tags: new Map([["a", ["b", "\udc00"]]]) })).toBe(
    'CodecError: cannot encode Deep.tags["a"][1]: invalid string: expected text without lone surrogates, got "\\udc00"',
  );
  expect(reason({ tags: new Map([[1, []]]) })).toBe(
    "CodecError: cannot encode Deep.tags.keys()[0]: invalid string: expected a string, got 1",
  );
  expect(reason({ set: new Set([1, -1]) })).toBe(
    "CodecError: cannot encode Deep.set[1]: invalid uint32: expected an integer from 0 to 4294967295, got -1",
  );
  expect(reason({ pairs: [5, 1] })).toBe(
    "CodecError: cannot encode Deep.pairs[0]: invalid string: expected a string, got 5",
  );
  expect(reason({ list: "x" })).toBe('CodecError: cannot encode Deep.list: invalid array: expected an array, got "x"');
});
