/** Descriptions of the protobuf layout of codecs. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Codec, codec, defineActor, defineArgs } from "../../runtime/wire/index.js";
import { describeActor, describeCodecs } from "../../runtime/wire/protobuf/describe-schema.js";
import type { ProtoField, ProtoSchema } from "../../shared/protobuf/proto-schema.js";
import { loadGenerated } from "./load-generated.js";
import { randomSchema } from "./random-schema.js";

/** Formats a description with one line per field, such as `2 name: string explicit`. */
function lines({ messages, enums, services }: ProtoSchema): readonly string[] {
  return [
    ...[...messages.values()].flatMap(({ name, fields, demandedOneofs = [], standsFor }) => [
      [`message ${name}`, ...(standsFor ? [standsFor] : []), ...demandedOneofs.map((oneof) => `demands ${oneof}`)].join(
        " ",
      ),
      ...fields.map(line),
    ]),
    ...[...enums.values()].flatMap(({ name, values }) => [
      `enum ${name}`,
      ...values.map((value) => `  ${value.number} ${value.name}`),
    ]),
    ...[...services.values()].flatMap(({ name, id, methods }) => [
      `service ${name} ${id}`,
      ...methods.map(({ name, id, request, response, stream, idempotent }) => {
        return `  ${id} ${name}(${request}): ${stream ? "stream " : ""}${response}${idempotent ? " idempotent" : ""}`;
      }),
    ]),
  ];
}

function line({ name, jsonName, number, cardinality, type, key, ...more }: ProtoField): string {
  const text = type.kind === "scalar" ? type.scalar : type.name;
  const rest = Object.entries(more).map(([what, value]) => ` ${what}=${JSON.stringify(value)}`);
  const both = jsonName === name ? name : `${name}/${jsonName}`;
  return `  ${number} ${both}: ${cardinality} ${key === undefined ? "" : `${key} to `}${text}${rest.join("")}`;
}

const kind = codec.enumeration("Kind", ["leaf", "dark red"], { numbers: [4, 2] });
const level = codec.enumeration("Level", [0, 1]);

test("fields are described with the presence rules of the layout", () => {
  interface Tree {
    next?: Tree;
  }
  const tree: Codec<Tree> = codec.object<Tree>("Tree", () => ({ next: codec.optional(tree) }), { numbers: [7] });
  const all = codec.object(
    "All",
    {
      plain: codec.int32,
      maybeText: codec.optional(codec.string),
      orNull: codec.nullable(codec.double),
      bothWays: codec.optional(codec.nullable(codec.bytes)),
      kind,
      level,
      at: codec.date,
      tree,
      port: codec.port(() => tree),
      choice: codec.oneof("Choice", () => ({ a: codec.int32, b: tree })),
      flat: codec.nullable(codec.oneof("", () => ({ left: codec.string, right: tree }), { numbers: [30, 31] })),
    },
    { numbers: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], flat: ["flat"], names: { plain: "PLAIN" }, type: "x.v1.All" },
  );
  expect(lines(describeCodecs([all]))).toEqual([
    "message x.v1.All",
    "  1 PLAIN: implicit int32",
    "  2 maybe_text/maybeText: explicit string",
    "  3 or_null/orNull: explicit double",
    "  4 both_ways/bothWays: explicit x.v1.AllBothWays",
    "  5 kind: implicit Kind demanded=true",
    "  6 level: implicit Level",
    "  7 at: explicit google.protobuf.Timestamp millis=true always=true",
    "  8 tree: explicit Tree always=true",
    '  9 port: explicit viceroy.handle.v1.Port carries={"kind":"port","type":{"kind":"message","name":"Tree"}} demanded=true',
    "  10 choice: explicit Choice demanded=true",
    '  30 left: explicit string oneof="flat"',
    '  31 right: explicit Tree oneof="flat"',
    "message x.v1.AllBothWays part",
    "  1 value: explicit bytes",
    "message Tree",
    "  7 next: explicit Tree",
    "message viceroy.handle.v1.Port",
    "  1 state: implicit bytes",
    "message Choice oneof demands value",
    '  1 a: explicit int32 oneof="value"',
    '  2 b: explicit Tree oneof="value"',
    "enum Kind",
    "  0 KIND_UNSPECIFIED",
    "  4 KIND_LEAF",
    "  2 KIND_DARK_RED",
    "enum Level",
    "  0 LEVEL_0",
    "  1 LEVEL_1",
  ]);
});

test("collections are described as fields, or as messages where a field cannot express them", () => {
  const all = codec.object("All", {
    list: codec.array(codec.int32),
    lists: codec.array(codec.array(kind)),
    set: codec.set(codec.string),
    small: codec.int16Array,
    clamped: codec.uint8ClampedArray,
    map: codec.map(codec.int64, codec.array(codec.boolean)),
    record: codec.record(codec.value),
    odd: codec.map(codec.double, codec.string),
    pair: codec.tuple(codec.int32, codec.optional(codec.string)),
    many: codec.tupleWithRest([codec.int32], codec.string, { labels: ["first"] }),
  });
  expect(lines(describeCodecs([all, codec.set(codec.int32)]))).toEqual([
    "message All",
    "  1 list: repeated int32",
    "  2 lists: repeated AllListsItem",
    '  3 set: repeated string unique="value"',
    "  4 small: repeated sint32 bits=16",
    "  5 clamped: implicit bytes",
    "  6 map: map int64 to AllMapValue",
    "  7 record: map string to google.protobuf.Value",
    '  8 odd: repeated AllOddEntry unique="key"',
    "  9 pair: explicit AllPair always=true",
    "  10 many: explicit AllMany always=true",
    "message Set<int32> part",
    '  1 items: repeated int32 unique="value"',
    "message AllListsItem part",
    "  1 items: repeated Kind",
    "message AllMapValue part",
    "  1 items: repeated bool",
    "message AllOddEntry part",
    "  1 key: implicit double",
    "  2 value: implicit string",
    "message AllPair tuple",
    "  1 item1: implicit int32",
    "  2 item2: explicit string",
    "message AllMany tuple",
    "  1 first: implicit int32",
    "  2 rest: repeated string",
    "enum Kind",
    "  0 KIND_UNSPECIFIED",
    "  4 KIND_LEAF",
    "  2 KIND_DARK_RED",
  ]);
});

test("messages and enums have the full names from the options", () => {
  const of = codec.object(
    "All",
    {
      choice: codec.oneof("Choice", () => ({ a: codec.int32 }), { type: "x.v1.Choice" }),
      shape: codec.union("Shape", "kind", () => ({ dot: codec.object("", {}) }), { type: "x.v1.Shape" }),
      pair: codec.tupleAs({ type: "x.v1.Pair" }, codec.int32, codec.string),
      color: codec.enumeration("Color", ["red"], { type: "x.v1.Color" }),
      level: codec.enumeration("Level", [0, 1], { type: "x.v1.Level" }),
    },
    { type: "x.v1.All" },
  );
  const { messages, enums } = describeCodecs([of]);
  expect(messages.get("x.v1.Shape")).toMatchObject({ standsFor: "union", demandedOneofs: ["kind"] });
  expect([...messages.keys()].sort()).toEqual(
    ["x.v1.All", "x.v1.Choice", "x.v1.Pair", "x.v1.Shape", "x.v1.ShapeDot"].sort(),
  );
  expect([...enums.keys()].sort()).toEqual(["x.v1.Color", "x.v1.Level"]);
  expect(enums.get("x.v1.Color")?.values.map(({ name }) => name)).toEqual(["COLOR_UNSPECIFIED", "COLOR_RED"]);
});

test("fields are sorted by number, and unpacked lists are marked", () => {
  const of = codec.object(
    "All",
    { last: codec.array(codec.int32), first: codec.string, middle: codec.array(codec.int32) },
    { numbers: [9, 1, 5], unpacked: ["last"] },
  );
  expect(lines(describeCodecs([of]))).toEqual([
    "message All",
    "  1 first: implicit string",
    "  5 middle: repeated int32",
    "  9 last: repeated int32 packed=false",
  ]);
});

test("a flat oneof is required unless it is nullable, and its name differs from those of its cases", () => {
  const choice = codec.oneof("", () => ({ left: codec.int32, right: codec.string }), { numbers: [1, 2] });
  const more = codec.oneof("", () => ({ up: codec.int32, down: codec.string }), { numbers: [3, 4] });
  const flat = codec.object("Flat", { choice, more: codec.nullable(more) }, { flat: ["choice", "more"] });
  const named = codec.oneof("Named", () => ({ value: codec.int32, value_case: codec.int32, other: codec.int32 }));
  expect(lines(describeCodecs([flat, named]))).toEqual([
    "message Flat demands choice",
    '  1 left: explicit int32 oneof="choice"',
    '  2 right: explicit string oneof="choice"',
    '  3 up: explicit int32 oneof="more"',
    '  4 down: explicit string oneof="more"',
    "message Named oneof demands value_case_case",
    '  1 value: explicit int32 oneof="value_case_case"',
    '  2 value_case/valueCase: explicit int32 oneof="value_case_case"',
    '  3 other: explicit int32 oneof="value_case_case"',
  ]);
});

test("elements and keys are marked as unique if two of them can be equal", () => {
  const point = codec.object("Point", { x: codec.int32 });
  const all = codec.object("All", {
    numbers: codec.set(codec.double),
    kinds: codec.set(kind),
    maybe: codec.set(codec.nullable(point)),
    points: codec.set(point),
    bytes: codec.set(codec.bytes),
    byPoint: codec.map(point, codec.int32),
    listed: codec.array(codec.int32),
  });
  const fields = describeCodecs([all]).messages.get("All")?.fields;
  expect(fields?.map(({ unique }) => unique)).toEqual(["value", "value", "value", ...new Array(4).fill(undefined)]);
});

test("types without a simple name are named by their position, and each enum is described once", () => {
  const nameless = codec.enumeration("", ["a"]);
  const all = codec.object("All", {
    odd: codec.enumeration("_Odd", ["b"]),
    spaced: codec.object("Spaced out", {}),
    one: nameless,
    two: nameless,
    named: kind,
    again: codec.array(kind),
    bytes: codec.map(codec.string, codec.int8Array),
    port: codec.port(() => codec.object("", {})),
    nothing: codec.array(codec.nullValue),
  });
  const { messages, enums } = describeCodecs([all]);
  expect([...messages.keys()]).toEqual(["All", "AllSpaced", "AllBytesValue", "viceroy.handle.v1.Port", "AllPortPort"]);
  expect([...enums.keys()]).toEqual(["AllOdd", "AllOne", "Kind"]);
  expect(messages.get("All")?.fields.map(({ type }) => type)).toEqual([
    { kind: "enum", name: "AllOdd" },
    { kind: "message", name: "AllSpaced" },
    { kind: "enum", name: "AllOne" },
    { kind: "enum", name: "AllOne" },
    { kind: "enum", name: "Kind" },
    { kind: "enum", name: "Kind" },
    { kind: "message", name: "AllBytesValue" },
    { kind: "message", name: "viceroy.handle.v1.Port" },
    { kind: "enum", name: "google.protobuf.NullValue" },
  ]);
});

test("types without a full name are in the package of the service, and a hidden endpoint is no method", () => {
  const item = codec.object("Item", {});
  const none = defineArgs(codec.parameters("Shop.list", {}), 0, 0);
  const interceptor = { retainsResults: true, retainingArguments: () => none.codec, retainedResult: item };
  const descriptor = defineActor({
    key: "p/a#Shop",
    name: "Shop",
    id: 7,
    service: "acme.shop.v1.ShopService",
    fingerprint: 1n,
    args: () => defineArgs(codec.parameters("Shop", {}), 0, 0),
    endpoints: () => ({ list: { id: 1, args: none, result: item, interceptor: interceptor as never } }),
  });
  expect(descriptor.endpoints.map(({ name }) => name)).toEqual(["list", "list, kept"]);
  expect(lines(describeActor(descriptor))).toEqual([
    "message acme.shop.v1.ShopServiceListRequest",
    "message acme.shop.v1.ShopServiceListResponse",
    "  1 result: explicit acme.shop.v1.Item always=true",
    "message acme.shop.v1.ShopService.constructor",
    "message acme.shop.v1.Item",
    "service acme.shop.v1.ShopService 7",
    "  1 List(acme.shop.v1.ShopServiceListRequest): acme.shop.v1.ShopServiceListResponse",
  ]);
});

test("an actor is described as a service, and its constructor as a message", () => {
  const add = codec.parameters<[number]>("Counter.add", { by: codec.int32 });
  const descriptor = defineActor({
    key: "p/a#Counter",
    name: "Counter",
    id: 77,
    fingerprint: 1n,
    args: () => defineArgs(codec.parameters<[string?]>("Counter", { name: codec.optional(codec.string) }), 0, 1),
    endpoints: () => ({
      add: { id: 3, args: defineArgs(add as Codec<readonly unknown[]>, 1, 1), result: codec.nullable(codec.int64) },
      reset: { id: 5, idempotent: true, args: defineArgs(codec.parameters("Counter.reset", {}), 0, 0) },
      watch: {
        id: 6,
        args: defineArgs(codec.parameters("Counter.watch", {}), 0, 0),
        result: codec.array(codec.int64),
        stream: true,
      },
      peers: {
        id: 7,
        args: defineArgs(codec.parameters("Counter.peers", {}), 0, 0),
        result: codec.mesh(() => descriptor),
      },
    }),
  });
  expect(lines(describeActor(descriptor))).toEqual([
    "message CounterServiceAddRequest",
    "  1 by: implicit int32",
    "message CounterServiceAddResponse",
    "  1 result: explicit int64",
    "message CounterServiceResetRequest",
    "message CounterServiceResetResponse",
    "message CounterServiceWatchRequest",
    "message CounterServiceWatchResponse",
    "  1 result: repeated int64",
    "message CounterServicePeersRequest",
    "message CounterServicePeersResponse",
    '  1 result: explicit viceroy.handle.v1.Mesh carries={"kind":"mesh","actor":77} demanded=true',
    "message CounterService.constructor",
    "  1 name: explicit string",
    "message viceroy.handle.v1.Mesh",
    "  1 state: implicit bytes",
    "service CounterService 77",
    "  3 Add(CounterServiceAddRequest): CounterServiceAddResponse",
    "  5 Reset(CounterServiceResetRequest): CounterServiceResetResponse idempotent",
    "  6 Watch(CounterServiceWatchRequest): stream CounterServiceWatchResponse",
    "  7 Peers(CounterServicePeersRequest): CounterServicePeersResponse",
  ]);
});

test("different messages with the same name get numbers, and each message is described once", () => {
  const one = codec.object("Item", { a: codec.int32 });
  const other = codec.object("Item", { b: codec.int32 });
  const third = codec.object("Item", { c: codec.int32 });
  const both = codec.tuple(one, other, one, third);
  expect(lines(describeCodecs([both]))).toEqual([
    "message [Item, Item, Item, Item] tuple",
    "  1 item1: explicit Item always=true",
    "  2 item2: explicit Item2 always=true",
    "  3 item3: explicit Item always=true",
    "  4 item4: explicit Item3 always=true",
    "message Item",
    "  1 a: implicit int32",
    "message Item2",
    "  1 b: implicit int32",
    "message Item3",
    "  1 c: implicit int32",
  ]);
});

test("recursive types are described once, and deeply nested types are described in full", () => {
  const odd: Codec<Map<unknown, unknown>> = codec.map(
    codec.double,
    codec.lazy(() => odd),
  );
  expect(lines(describeCodecs([codec.object("All", { odd, again: odd })]))).toEqual([
    "message All",
    '  1 odd: repeated AllOddEntry unique="key"',
    '  2 again: repeated AllOddEntry unique="key"',
    "message AllOddEntry part",
    "  1 key: implicit double",
    '  2 value: repeated AllOddEntry unique="key"',
  ]);
  let deep: Codec<unknown> = codec.object("End", {});
  for (let i = 0; i < 500; i++) deep = codec.object(`M${i}`, { next: deep });
  expect(describeCodecs([deep]).messages.size).toBe(501);
});

test("a description contains every type that it refers to, and its names are unique", async () => {
  const property = fc.asyncProperty(randomSchema, async (schema) => {
    const codecs = await loadGenerated(schema);
    const { messages, enums } = describeCodecs([...codecs.values()]);
    for (const { name, fields } of messages.values()) {
      const names = fields.flatMap((field) => [...new Set([field.name, field.jsonName])]);
      expect(new Set(names).size, name).toBe(names.length);
      for (const { type } of fields) {
        if (type.kind === "scalar" || type.name.startsWith("google.protobuf.")) continue;
        expect((type.kind === "enum" ? enums : messages).has(type.name), type.name).toBe(true);
      }
    }
    for (const { values } of enums.values()) {
      expect(values[0]?.number).toBe(0);
      expect(new Set(values.map(({ name }) => name)).size).toBe(values.length);
    }
  });
  await fc.assert(property, { numRuns: Number(process.env["VICEROY_SCHEMAS"] ?? 40) });
});
