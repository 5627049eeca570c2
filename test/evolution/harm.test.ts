/** Checks a witness of every rule that compares messages: a value that one side writes and the other misreads. */
import { expect, test } from "vitest";
import { type Codec, codec } from "../../runtime/wire/index.js";
import { describeCodecs } from "../../runtime/wire/protobuf/describe-schema.js";
import { findWireDifferences, wireRules } from "../../shared/evolution/index.js";

type AnyCodec = Codec<unknown>;

const holder = (field: AnyCodec) => codec.object("M", { x: field }) as AnyCodec;
const letters = codec.enumeration("E", ["a", "b"]) as AnyCodec;
const pair = { a: codec.string, b: codec.string };
const optional = { a: codec.optional(codec.string), b: codec.optional(codec.string) };
const flat = (wrap: (one: AnyCodec) => AnyCodec) =>
  codec.object("M", { x: wrap(codec.oneof("", () => pair) as AnyCodec) }, { flat: ["x"] }) as AnyCodec;
const maybe = (one: AnyCodec) => codec.optional(one) as AnyCodec;

/** `comes` is the value that the reader decodes, or undefined when the reader refuses the bytes. */
const witnesses: readonly {
  readonly code: string;
  readonly writer: AnyCodec;
  readonly reader: AnyCodec;
  readonly value: unknown;
  readonly comes?: unknown;
}[] = [
  {
    ...{ code: "VC5001", writer: holder(codec.int64 as AnyCodec), reader: holder(codec.int32 as AnyCodec) },
    ...{ value: { x: 2n ** 32n + 1n }, comes: { x: 1 } },
  },
  {
    ...{
      code: "VC5002",
      writer: holder(codec.array(codec.string) as AnyCodec),
      reader: holder(codec.string as AnyCodec),
    },
    ...{ value: { x: ["a", "b"] }, comes: { x: "b" } },
  },
  {
    code: "VC5003",
    writer: holder(codec.map(codec.uint32, codec.string) as AnyCodec),
    reader: holder(codec.map(codec.sint32, codec.string) as AnyCodec),
    value: { x: new Map([[1, "a"]]) },
    comes: { x: new Map([[-1, "a"]]) },
  },
  { code: "VC5004", writer: holder(maybe(letters)), reader: holder(letters), value: {} },
  { code: "VC5005", writer: codec.object("M", {}) as AnyCodec, reader: holder(letters), value: {} },
  {
    ...{ code: "VC5006", writer: codec.object("M", optional) as AnyCodec, reader: flat(maybe) },
    ...{ value: { a: "1", b: "2" }, comes: { x: { case: "b", value: "2" } } },
  },
  { code: "VC5007", writer: flat(maybe), reader: flat((one) => one), value: {} },
  {
    code: "VC5008",
    writer: holder(codec.tuple(codec.int32, codec.int32) as AnyCodec),
    reader: holder(codec.tuple(codec.int32) as AnyCodec),
    value: { x: [1, 2] },
    comes: { x: [1] },
  },
  {
    code: "VC5009",
    writer: holder(codec.enumeration("E", ["red", "green"]) as AnyCodec),
    reader: holder(codec.enumeration("E", ["blue", "red"]) as AnyCodec),
    value: { x: "green" },
    comes: { x: "red" },
  },
  {
    ...{ code: "VC5001", writer: holder(codec.int32 as AnyCodec), reader: holder(codec.nullValue as AnyCodec) },
    ...{ value: { x: 7 }, comes: { x: null } },
  },
  {
    ...{
      code: "VC5009",
      writer: holder(codec.enumeration("Color", ["red", "green"]) as AnyCodec),
      reader: holder(codec.enumeration("Size", ["small", "large"]) as AnyCodec),
    },
    ...{ value: { x: "red" }, comes: { x: "small" } },
  },
  {
    ...{
      code: "VC5021",
      writer: holder(codec.object("Place", { x: codec.double, y: codec.double }) as AnyCodec),
      reader: holder(codec.object("Point", { y: codec.double, x: codec.double }) as AnyCodec),
    },
    ...{ value: { x: { x: 1, y: 2 } }, comes: { x: { x: 2, y: 1 } } },
  },
  {
    ...{
      code: "VC5010",
      writer: holder(codec.array(codec.sint32) as AnyCodec),
      reader: holder(codec.int8Array as AnyCodec),
    },
    ...{ value: { x: [300] } },
  },
  {
    ...{
      code: "VC5011",
      writer: holder(codec.array(codec.string) as AnyCodec),
      reader: holder(codec.set(codec.string) as AnyCodec),
    },
    ...{ value: { x: ["a", "a"] }, comes: { x: new Set(["a"]) } },
  },
];

test.each(witnesses)("a reader refuses or misreads a change with $code", ({ code, writer, reader, value, comes }) => {
  const sides = [describeCodecs([writer]), describeCodecs([reader])] as const;
  const roots = { messages: [{ older: "M", newer: "M" }], actors: [] };
  // Either side may be the older one, because rules about required fields depend on the direction.
  const found = [...findWireDifferences(...sides, roots), ...findWireDifferences(sides[1], sides[0], roots)];
  expect(found.map((difference) => difference.code)).toContain(code);
  const bytes = writer.toProtobuf(value);
  if (comes === undefined) expect(() => reader.fromProtobuf(bytes)).toThrow(/^cannot decode M/);
  else expect(reader.fromProtobuf(bytes)).toEqual(comes);
});

test("every rule has a witness, except for rules of handles and actors, which need a mesh", () => {
  const others = ["VC5012", "VC5013", "VC5014", "VC5015", "VC5016", "VC5017"];
  const shown = new Set(witnesses.map(({ code }) => code));
  expect(wireRules.map(({ code }) => code).sort()).toEqual([...shown, ...others].sort());
});
