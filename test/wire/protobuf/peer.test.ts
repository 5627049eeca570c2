/** Viceroy and protobuf-es write the same bytes and read each other: all scalars, enums, maps, oneofs and timestamps. */
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_timestamp,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  timestampDate,
  timestampFromDate,
} from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Codec, codec, unknownFields } from "../../../runtime/wire/index.js";
import { cases } from "../../profile.js";

const int32 = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 127, 128, 16383, 16384, 2 ** 31 - 1, -(2 ** 31)));
const uint32 = fc.oneof(fc.nat(), fc.constantFrom(0, 127, 128, 2 ** 28, 2 ** 32 - 1));
const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(0n, -1n, 127n, 2n ** 31n, 2n ** 32n, 2n ** 63n - 1n, -(2n ** 63n)),
);
const uint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(0n, 128n, 2n ** 32n, 2n ** 64n - 1n),
);
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.constantFrom("", "x".repeat(500)),
);

/** The types of fields: the type in protobuf, the codec of Viceroy, and values. */
const scalars: Record<string, { type: Type; codec: Codec<unknown>; values: fc.Arbitrary<unknown>; key: boolean }> = {
  double: { type: Type.DOUBLE, codec: codec.double, values: fc.double(), key: false },
  float: { type: Type.FLOAT, codec: codec.float32, values: fc.float(), key: false },
  int32: { type: Type.INT32, codec: codec.int32, values: int32, key: true },
  uint32: { type: Type.UINT32, codec: codec.uint32, values: uint32, key: true },
  sint32: { type: Type.SINT32, codec: codec.sint32, values: int32, key: true },
  fixed32: { type: Type.FIXED32, codec: codec.fixed32, values: uint32, key: true },
  sfixed32: { type: Type.SFIXED32, codec: codec.sfixed32, values: int32, key: true },
  int64: { type: Type.INT64, codec: codec.int64, values: int64, key: true },
  uint64: { type: Type.UINT64, codec: codec.uint64, values: uint64, key: true },
  sint64: { type: Type.SINT64, codec: codec.sint64, values: int64, key: true },
  fixed64: { type: Type.FIXED64, codec: codec.fixed64, values: uint64, key: true },
  sfixed64: { type: Type.SFIXED64, codec: codec.sfixed64, values: int64, key: true },
  bool: { type: Type.BOOL, codec: codec.boolean, values: fc.boolean(), key: true },
  string: { type: Type.STRING, codec: codec.string, values: text, key: true },
  bytes: { type: Type.BYTES, codec: codec.bytes, values: fc.uint8Array(), key: false },
};
const names = Object.keys(scalars);

interface FieldOptions {
  readonly label?: Label;
  readonly typeName?: string;
  readonly oneofIndex?: number;
  readonly proto3Optional?: boolean;
  readonly options?: { readonly packed: boolean };
}

function field(name: string, number: number, type: Type, options: FieldOptions = {}) {
  return { name, number, type, label: Label.OPTIONAL, jsonName: name, ...options };
}

/** `p.<name>`: the message of a map's entry. */
function entry(name: string, key: string, value: string) {
  return {
    name,
    field: [field("key", 1, scalars[key]!.type), field("value", 2, scalars[value]!.type)],
    options: { mapEntry: true },
  };
}

const numberOf = (index: number, block: number) => block * 20 + index + 1;
const keys = names.filter((name) => scalars[name]!.key);
const mapOf = (name: string) => `m${name[0]!.toUpperCase()}${name.slice(1)}Entry`;

/** Every scalar: implicit, explicit, repeated, repeated unpacked, as key of a map. */
const everything = {
  name: "Everything",
  field: names.flatMap((name, i) => {
    const { type } = scalars[name]!;
    const isPacked = name !== "string" && name !== "bytes";
    return [
      field(`i_${name}`, numberOf(i, 0), type),
      field(`o_${name}`, numberOf(i, 1), type, { proto3Optional: true, oneofIndex: i }),
      field(`r_${name}`, numberOf(i, 2), type, { label: Label.REPEATED }),
      ...(isPacked
        ? [field(`u_${name}`, numberOf(i, 3), type, { label: Label.REPEATED, options: { packed: false } })]
        : []),
      ...(keys.includes(name)
        ? [
            field(`m_${name}`, numberOf(i, 4), Type.MESSAGE, {
              label: Label.REPEATED,
              typeName: `.p.Everything.${mapOf(name)}`,
            }),
          ]
        : []),
    ];
  }),
  oneofDecl: names.map((name) => ({ name: `_o_${name}` })),
  nestedType: keys.map((name, i) => entry(mapOf(name), name, names[i % names.length]!)),
};

const registry = createFileRegistry(
  create(FileDescriptorSetSchema, {
    file: [
      file_google_protobuf_timestamp.proto,
      create(FileDescriptorProtoSchema, {
        name: "p.proto",
        package: "p",
        syntax: "proto3",
        dependency: ["google/protobuf/timestamp.proto"],
        enumType: [
          {
            name: "Color",
            value: [
              { name: "COLOR_UNSPECIFIED", number: 0 },
              { name: "COLOR_RED", number: 1 },
              { name: "COLOR_GREEN", number: 5 },
            ],
          },
        ],
        messageType: [
          everything,
          {
            name: "Tree",
            field: [
              field("name", 1, Type.STRING),
              field("children", 2, Type.MESSAGE, { label: Label.REPEATED, typeName: ".p.Tree" }),
              field("color", 3, Type.ENUM, { typeName: ".p.Color" }),
              field("at", 4, Type.MESSAGE, { typeName: ".google.protobuf.Timestamp" }),
              field("parent", 5, Type.MESSAGE, { typeName: ".p.Tree" }),
              field("colors", 6, Type.ENUM, { label: Label.REPEATED, typeName: ".p.Color" }),
              field("number", 7, Type.SINT64, { oneofIndex: 0 }),
              field("word", 70, Type.STRING, { oneofIndex: 0 }),
              field("leaf", 700, Type.MESSAGE, { oneofIndex: 0, typeName: ".p.Tree" }),
            ],
            oneofDecl: [{ name: "value" }],
          },
        ],
      }),
    ],
  }),
);
const message = (name: string): DescMessage => registry.getMessage(`p.${name}`)!;

test("every scalar field is exchanged with protobuf-es: implicit, explicit, packed, unpacked and as map key", () => {
  const fields: [string, number, Codec<unknown>][] = [];
  const values: Record<string, fc.Arbitrary<unknown>> = {};
  for (const [i, name] of names.entries()) {
    const { codec: scalar, values: value } = scalars[name]!;
    const list = codec.array(scalar);
    fields.push([`i_${name}`, numberOf(i, 0), scalar]);
    fields.push([`o_${name}`, numberOf(i, 1), codec.optional(scalar)]);
    fields.push([`r_${name}`, numberOf(i, 2), list]);
    values[`i_${name}`] = value;
    values[`o_${name}`] = value;
    values[`r_${name}`] = fc.array(value, { maxLength: 4 });
    if (name !== "string" && name !== "bytes") {
      fields.push([`u_${name}`, numberOf(i, 3), list]);
      values[`u_${name}`] = fc.array(value, { maxLength: 4 });
    }
    const key = keys.indexOf(name);
    if (key >= 0) {
      const inner = scalars[names[key % names.length]!]!;
      fields.push([`m_${name}`, numberOf(i, 4), codec.map(scalar, inner.codec)]);
      values[`m_${name}`] = fc
        .array(fc.tuple(value, inner.values), { maxLength: 4 })
        .map((list) => new Map(list as []));
    }
  }
  const ours = codec.object<Record<string, unknown>>(
    "Everything",
    Object.fromEntries(fields.map(([name, , c]) => [name, c])) as never,
    {
      numbers: fields.map(([, number]) => number),
    },
  );
  const optional = names.map((name) => `o_${name}`);
  const required = Object.keys(values).filter((name) => !optional.includes(name));
  const property = fc.property(fc.record(values, { requiredKeys: required }), (value) => {
    const descriptor = message("Everything");
    // protobuf-es represents maps as objects.
    const init = Object.fromEntries(
      Object.entries(value).map(([name, v]) => [
        camel(name),
        v instanceof Map ? Object.fromEntries([...v].map(([k, x]) => [String(k), x])) : v,
      ]),
    );
    const theirs = toBinary(descriptor, create(descriptor, init as never));
    expect(ours.fromProtobuf(theirs)).toEqual(value);
    const back = fromBinary(descriptor, ours.toProtobuf(value));
    expect(toBinary(descriptor, back).length).toBe(theirs.length);
    expect(ours.fromProtobuf(toBinary(descriptor, back))).toEqual(value);
    // A schema that knows no field loses nothing.
    const blind = codec.object("Blind", {});
    expect(blind.toProtobuf(blind.fromProtobuf(theirs))).toEqual(theirs);
  });
  fc.assert(property, { numRuns: cases(100) });
});

function camel(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

interface Tree {
  name: string;
  children: Tree[];
  color: "red" | "green";
  at?: Date;
  parent: Tree | null;
  colors: ("red" | "green")[];
  value?: { case: "number"; value: bigint } | { case: "word"; value: string } | { case: "leaf"; value: Tree };
}

const color = codec.enumeration<"red" | "green">("Color", ["red", "green"], { numbers: [1, 5] });
const tree: Codec<Tree> = codec.object<Tree>(
  "Tree",
  () => ({
    name: codec.string,
    children: codec.array(tree),
    color,
    at: codec.optional(codec.date),
    parent: codec.nullable(tree),
    colors: codec.array(color),
    value: codec.optional(
      codec.oneof<NonNullable<Tree["value"]>>("", () => ({ number: codec.sint64, word: codec.string, leaf: tree }), {
        numbers: [7, 70, 700],
      }),
    ),
  }),
  { flat: ["value"] },
);

const colors = fc.constantFrom<("red" | "green")[]>("red", "green");
/** Trees of up to `depth` levels. */
const treesOf: (depth: number) => fc.Arbitrary<Tree> = fc.memo((depth) => {
  const inner = depth > 1 ? treesOf(depth - 1) : undefined;
  const scalarCases = [
    fc.record({ case: fc.constant("number" as const), value: int64 }),
    fc.record({ case: fc.constant("word" as const), value: text }),
  ];
  return fc.record(
    {
      name: text,
      children: inner === undefined ? fc.constant([]) : fc.array(inner, { maxLength: 3 }),
      color: colors,
      at: fc.date({ noInvalidDate: true, min: new Date(-62135596800000), max: new Date(253402300799999) }),
      parent: inner === undefined ? fc.constant(null) : fc.option(inner),
      colors: fc.array(colors, { maxLength: 3 }),
      value: fc.oneof(
        ...scalarCases,
        ...(inner === undefined ? [] : [fc.record({ case: fc.constant("leaf" as const), value: inner })]),
      ),
    },
    { requiredKeys: ["name", "children", "color", "parent", "colors"], noNullPrototype: true },
  ) as fc.Arbitrary<Tree>;
});
const trees = treesOf(3);

/** Converts a value to the form of protobuf-es. */
function init(value: Tree): MessageShape<DescMessage> {
  const number = { red: 1, green: 5 };
  return create(message("Tree"), {
    name: value.name,
    children: value.children.map(init),
    color: number[value.color],
    ...(value.at && { at: timestampFromDate(value.at) }),
    ...(value.parent && { parent: init(value.parent) }),
    colors: value.colors.map((one) => number[one]),
    value: value.value?.case === "leaf" ? { case: "leaf", value: init(value.value.value) } : value.value,
  } as never);
}

test("recursive messages, enums, timestamps and oneofs have the same bytes as in protobuf-es", () => {
  const property = fc.property(trees, (value) => {
    const descriptor = message("Tree");
    const theirs = toBinary(descriptor, init(value));
    expect(tree.fromProtobuf(theirs)).toEqual(value);
    expect(tree.toProtobuf(value)).toEqual(theirs);
  });
  fc.assert(property, { numRuns: cases(200) });
});

test("a message in two parts is merged as protobuf-es merges it", () => {
  const property = fc.property(trees, trees, (first, second) => {
    const descriptor = message("Tree");
    const both = Uint8Array.from([...tree.toProtobuf(first), ...tree.toProtobuf(second)]);
    const merged = tree.fromProtobuf(both);
    // protobuf-es writes its merged message, which Viceroy reads as the message that it has merged itself.
    expect(tree.fromProtobuf(toBinary(descriptor, fromBinary(descriptor, both)))).toEqual(merged);
  });
  fc.assert(property, { numRuns: cases(100) });
});

test("unknown enum numbers and unknown fields survive a round trip", () => {
  const descriptor = message("Tree");
  const theirs = create(descriptor, { color: 9, colors: [1, 77] } as never);
  const value = tree.fromProtobuf(toBinary(descriptor, theirs));
  expect(value).toMatchObject({ color: "$unknown:9", colors: ["red", "$unknown:77"] });
  const back = fromBinary(descriptor, tree.toProtobuf(value)) as unknown as { color: number; colors: number[] };
  expect([back.color, back.colors]).toEqual([9, [1, 77]]);
  const known = tree.toProtobuf({ name: "n", children: [], color: "red", parent: null, colors: [], at: new Date(5) });
  const narrow = codec.object("Narrow", { name: codec.string });
  const through = narrow.fromProtobuf(known) as { name: string; [unknownFields]?: Uint8Array };
  expect(through.name).toBe("n");
  const again = fromBinary(descriptor, narrow.toProtobuf(through)) as unknown as { at: never; name: string };
  expect(timestampDate(again.at)).toEqual(new Date(5));
});
