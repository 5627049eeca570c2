/** Oneofs, unions and enums: invalid cases are refused with the names of the valid ones, and unknown cases are kept. */
import { describe, expect, test } from "vitest";
import { type Codec, codec, unknownFields } from "../../runtime/wire/index.js";
import { concat, field, hex, messageOf, toHex } from "./protobuf/message-bytes.js";

const point = codec.object("Point", { x: codec.int32, y: codec.int32 });
const union = (name: string) =>
  codec.union<{ kind: string }>(name, "kind", () => ({ dot: point, line: codec.object("", { to: codec.string }) }));
const oneof = (name: string) => codec.oneof(name, () => ({ n: codec.int32, point }));
const newer = hex("a2 06 01 41");

/** The fields that a value keeps because its schema does not know them. */
const unknownOf = (value: unknown) => (value as { [unknownFields]?: Uint8Array })[unknownFields];

describe.each([
  { of: union("Shape") as Codec<unknown>, name: "Shape", tag: "kind", cases: '"dot" or "line"' },
  { of: union("") as Codec<unknown>, name: "union", tag: "kind", cases: '"dot" or "line"' },
  { of: oneof("Choice") as Codec<unknown>, name: "Choice", tag: "case", cases: '"n" or "point"' },
  { of: oneof("") as Codec<unknown>, name: "oneof", tag: "case", cases: '"n" or "point"' },
])("$name", ({ of, name, tag, cases }) => {
  const at = of.name;

  test.each(["encode", "toProtobuf", "toJson"] as const)(
    "%s refuses a value that is not an object, and an unknown case",
    (write) => {
      for (const [value, got] of [
        [null, "null"],
        [undefined, "undefined"],
        [5, "5"],
        ["n", '"n"'],
      ] as const)
        expect(messageOf(() => of[write](value))).toBe(
          `CodecError: cannot encode ${at}: invalid ${name}: expected an object, got ${got}`,
        );
      for (const [value, got] of [
        [{}, "undefined"],
        [{ [tag]: "oval" }, '"oval"'],
      ] as const)
        expect(messageOf(() => of[write](value))).toBe(
          `CodecError: cannot encode ${at}: invalid ${name}: expected ${tag} to be ${cases}, got ${got}`,
        );
    },
  );

  test("a message without any case is refused, in bytes and in JSON", () => {
    expect(messageOf(() => of.fromProtobuf(hex("")))).toBe(
      `CodecError: cannot decode ${at}: invalid ${name}: expected ${cases}, got none of them`,
    );
    expect(messageOf(() => of.fromJson({}))).toBe(
      `CodecError: cannot decode ${at}: invalid ${name}: expected one of ${cases.replace(" or", ",")}, got none of them`,
    );
    expect(messageOf(() => of.decode(Uint8Array.of(2)))).toContain("cannot decode");
  });

  test("an unknown case is kept in protobuf, is an empty object in JSON, and is refused by the lockstep layout", () => {
    const unknown = of.fromProtobuf(newer);
    expect(unknown).toMatchObject({ [tag]: "$unknown" });
    expect(unknownOf(unknown)).toEqual(newer);
    expect(of.toProtobuf(unknown)).toEqual(newer);
    expect(of.toJson(unknown)).toEqual({});
    expect(messageOf(() => of.toProtobuf({ [tag]: "$unknown" }))).toBe(
      `CodecError: cannot encode ${at}: invalid ${name}: expected the unknown fields that make it, got "none"`,
    );
    expect(messageOf(() => of.encode(unknown))).toContain(`expected ${tag} to be ${cases}, got "$unknown"`);
    expect(of.fromJson({ other: 1 }, { ignoreUnknownFields: true })).toMatchObject({ [tag]: "$unknown" });
    // A message in two parts: the later part is added, and a known case wins over an unknown one.
    const wrapped = codec.object("W", { inner: of });
    const twice = wrapped.fromProtobuf(concat(field(1, newer), field(1, newer))) as { inner: object };
    expect(twice.inner).toMatchObject({ [tag]: "$unknown" });
    expect(unknownOf(twice.inner)).toEqual(concat(newer, newer));
    const known = of.toProtobuf(
      name === "Shape" || name === "union" ? { kind: "dot", x: 1, y: 2 } : { case: "n", value: 5 },
    );
    for (const parts of [[newer, known], [known, newer], [known]]) {
      const read = wrapped.fromProtobuf(concat(...parts.map((part) => field(1, part)))) as {
        inner: { [key: string]: unknown };
      };
      expect(["dot", "n"]).toContain(read.inner[tag]);
    }
  });

  test("two parts with the same case are merged, and a part with another case replaces the value", () => {
    const wrapped = codec.object("W", { inner: of });
    const number = name === "Shape" || name === "union" ? 1 : 2;
    const part = (value: Uint8Array) => field(1, field(number, value));
    const both = wrapped.fromProtobuf(concat(part(hex("08 01")), part(hex("10 02")))) as { inner: { value?: object } };
    expect(both.inner.value ?? both.inner).toMatchObject({ x: 1, y: 2 });
    const other = number === 1 ? field(2, hex("0a 01 61")) : hex("08 07");
    const replaced = wrapped.fromProtobuf(
      concat(part(hex("08 01")), field(1, other), part(hex("10 02"))),
    ) as typeof both;
    expect(replaced.inner.value ?? replaced.inner).toMatchObject({ x: 0, y: 2 });
  });
});

test("errors give the path inside a case, in every layout", () => {
  const bad = { x: 0.5, y: 0 };
  const why = "invalid int32: expected an integer from -2147483648 to 2147483647, got 0.5";
  for (const write of ["encode", "toProtobuf", "toJson"] as const) {
    expect(messageOf(() => union("Shape")[write]({ kind: "dot", ...bad }))).toBe(
      `CodecError: cannot encode Shape.x: ${why}`,
    );
    expect(messageOf(() => oneof("Choice")[write]({ case: "point", value: bad } as never))).toBe(
      `CodecError: cannot encode Choice.value.x: ${why}`,
    );
  }
  expect(messageOf(() => oneof("Choice").fromProtobuf(hex("12 01 08")))).toContain("cannot decode Choice.value");
  expect(messageOf(() => union("Shape").fromProtobuf(hex("0a 01 08")))).toContain("cannot decode Shape.x: ");
  const encoded = oneof("Choice").encode({ case: "n", value: 5 } as never);
  expect(messageOf(() => oneof("Choice").decode(encoded.slice(0, -1)))).toBe(
    "CodecError: cannot decode Choice: the message ends too early",
  );
});

test("cases use the numbers and the names from the options", () => {
  const proto = { numbers: [7, 3], names: { first: "one_of_them" }, json: { second: "zwei" } };
  const named = codec.oneof("Named", () => ({ first: codec.int32, second: codec.int32 }), proto) as Codec<unknown>;
  expect(toHex(named.toProtobuf({ case: "first", value: 1 }))).toBe("3801");
  expect(toHex(named.toProtobuf({ case: "second", value: 1 }))).toBe("1801");
  expect(named.toJson({ case: "first", value: 1 })).toEqual({ oneOfThem: 1 });
  expect(named.toJson({ case: "second", value: 1 })).toEqual({ zwei: 1 });
  expect(named.fromJson({ one_of_them: 1 })).toEqual({ case: "first", value: 1 });
});

test("an error lists up to eight cases and counts the others", () => {
  const refusal = (count: number) => {
    const names = Array.from({ length: count }, (_, i) => `c${i}`);
    const of = codec.oneof("Choice", () => Object.fromEntries(names.map((name) => [name, codec.int32])));
    return messageOf(() => of.toProtobuf({ case: "x" } as never));
  };
  const start = "CodecError: cannot encode Choice: invalid Choice: expected case to be";
  expect(refusal(1)).toBe(`${start} "c0", got "x"`);
  expect(refusal(2)).toBe(`${start} "c0" or "c1", got "x"`);
  expect(refusal(8)).toBe(`${start} "c0", "c1", "c2", "c3", "c4", "c5", "c6" or "c7", got "x"`);
  expect(refusal(9)).toBe(`${start} "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7" or one of 1 more, got "x"`);
});

test("the value of one case is not merged into another case of the same type", () => {
  const two = codec.oneof("Two", () => ({ a: point, b: point }));
  expect(two.fromProtobuf(concat(field(1, hex("08 01")), field(2, hex("10 02"))))).toEqual({
    case: "b",
    value: { x: 0, y: 2 },
  });
});

test("a numeric enum refuses values that are not 32-bit integers", () => {
  const level = codec.enumeration("Level", [0, 1]) as Codec<unknown>;
  for (const [wrong, got] of [
    ["1", '"1"'],
    [1n, "1n"],
    [0.5, "0.5"],
    [2 ** 31, "2147483648"],
    [undefined, "undefined"],
  ] as const)
    expect(messageOf(() => level.toProtobuf(wrong))).toBe(
      `CodecError: cannot encode Level: invalid Level: expected an integer from -2147483648 to 2147483647, got ${got}`,
    );
});

test("an enum or a oneof with up to 256 values takes one byte, and a larger one takes two", () => {
  for (const count of [255, 256, 257, 300]) {
    const values = Array.from({ length: count }, (_, i) => `v${i}`);
    const of = codec.enumeration("Many", values);
    const cases = codec.oneof("Cases", () =>
      Object.fromEntries(values.map((value) => [value, codec.boolean])),
    ) as Codec<unknown>;
    expect([of.slot, cases.slot]).toEqual(count <= 256 ? [1, 1] : [2, 2]);
    for (const value of [values[0]!, values[1]!, values.at(-1)!]) {
      expect(of.decode(of.encode(value))).toBe(value);
      expect(cases.decode(cases.encode({ case: value, value: true }))).toEqual({ case: value, value: true });
    }
    if (count > 256) {
      expect([...of.encode(values.at(-1)!)]).toEqual([(count - 1) & 255, (count - 1) >> 8]);
      expect(messageOf(() => of.decode(Uint8Array.of(count & 255, count >> 8)))).toBe(
        `CodecError: cannot decode Many: invalid Many: expected a number below ${count}, got ${count}`,
      );
    }
  }
});

describe("a oneof whose cases are fields of its message", () => {
  const flat = codec.object(
    "Flat",
    {
      must: oneof("Choice"),
      may: codec.optional(codec.oneof("", () => ({ a: point, b: codec.string }), { numbers: [8, 9] })),
    },
    { numbers: [0, 0], flat: ["must", "may"] },
  ) as Codec<unknown>;
  const good = { must: { case: "n", value: 1 } };

  test("is refused if it is not an object, and may be absent if it is optional", () => {
    for (const write of ["toProtobuf", "toJson"] as const) {
      for (const [value, got] of [
        [null, "null"],
        [5, "5"],
        [undefined, "undefined"],
      ] as const)
        expect(messageOf(() => flat[write]({ must: value }))).toBe(
          `CodecError: cannot encode Flat.must: invalid Choice: expected an object, got ${got}`,
        );
      expect(messageOf(() => flat[write]({ ...good, may: null }))).toBe(
        "CodecError: cannot encode Flat.may: invalid oneof: expected an object, got null",
      );
      expect(messageOf(() => flat[write]({ ...good, may: { case: "c" } }))).toBe(
        'CodecError: cannot encode Flat.may: invalid oneof: expected case to be "a" or "b", got "c"',
      );
      expect(messageOf(() => flat[write](good))).toBe("nothing");
    }
    expect(messageOf(() => flat.fromJson({}))).toBe(
      'CodecError: cannot decode Flat.must: invalid Choice: expected one of "n", "point", got none of them',
    );
    expect(flat.fromProtobuf(flat.toProtobuf(good))).toEqual(good);
    expect(flat.fromJson(flat.toJson(good))).toEqual(good);
  });

  test("is null if it is nullable and no case was sent", () => {
    const choice = codec.nullable(oneof("Choice"));
    const nullable = codec.object("Nullable", { choice }, { flat: ["choice"] });
    expect(toHex(nullable.toProtobuf({ choice: null }))).toBe("");
    expect(nullable.fromProtobuf(hex(""))).toEqual({ choice: null });
  });

  test("has the last case that was sent, and merges parts of the same case", () => {
    const read = (...parts: readonly Uint8Array[]) => flat.fromProtobuf(concat(hex("08 01"), ...parts));
    expect(read(field(8, hex("08 01")), field(8, hex("10 02")))).toEqual({
      ...good,
      may: { case: "a", value: { x: 1, y: 2 } },
    });
    expect(read(field(8, hex("08 01")), hex("4a 01 62"), field(8, hex("10 02")))).toEqual({
      ...good,
      may: { case: "a", value: { x: 0, y: 2 } },
    });
    expect(messageOf(() => read(field(8, hex("08"))))).toBe(
      "CodecError: cannot decode Flat.may.value.x: the message ends too early",
    );
  });
});

test("the first use of a codec reports a flat or unpacked option that the type does not allow", () => {
  const use = (of: Codec<unknown>) => messageOf(() => of.toProtobuf({ a: 1 }));
  expect(use(codec.object("A", { a: codec.int32 }, { flat: ["a"] }))).toContain(
    "cannot make the cases of int32 fields of a message: it is no oneof",
  );
  expect(use(codec.object("A", { a: point }, { flat: ["a"] }))).toContain(
    "cannot make the cases of Point fields of a message: it is no oneof",
  );
  expect(use(codec.object("A", { a: codec.int32 }, { unpacked: ["a"] }))).toContain(
    "cannot leave int32 unpacked: it is no array",
  );
  expect(use(codec.object("A", { a: codec.set(codec.int32) }, { unpacked: ["a"] }))).toContain(
    "cannot leave Set<int32> unpacked: it is no array",
  );
});
