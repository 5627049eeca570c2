/** Generated code is run: values of every kind survive a round trip, and fingerprints equal those of the compiler. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Codec, codec } from "viceroy/codegen/v1";
import { expect, test } from "vitest";
import { assignIds } from "../../../compiler/lock/index.js";
import { fingerprint, indexSchema, type Schema } from "../../../compiler/model/index.js";
import { openTypeSource, readSchema } from "../../../compiler/source/index.js";
import { flatName } from "../../../shared/names/qualified-name.js";
import { counterDescriptor } from "./golden/actors/expected/actors.js";
import { workerDescriptor } from "./golden/actors/expected/deep/worker.js";
import { AnswerCodec, ChoicesCodec, Level, Suit } from "./golden/choices/expected/choices.js";
import { CollectionsCodec, RowsCodec } from "./golden/collections/expected/collections.js";
import { ItemCodec, PageCodec, UsesCodec } from "./golden/generics/expected/generics.js";
import { loudGreeterDescriptor } from "./golden/inheritance/expected/derived.js";
import { EndpointCodec } from "./golden/names/expected/names.js";
import { NothingCodec, PresenceCodec } from "./golden/presence/expected/presence.js";
import { ACodec, ExpressionCodec, ListCodec, TreeCodec } from "./golden/recursion/expected/a.js";
import { ScalarsCodec, TypedArraysCodec } from "./golden/scalars/expected/scalars.js";
import {
  CircleTask,
  CountWordsTask,
  CutTask,
  JoinTask,
  RenderTask,
  ReportTask,
  SquareTask,
  SweepTask,
} from "./golden/tasks/expected/geometry.js";
import { SortTask } from "./golden/tasks/expected/shapes.js";
import { MomentsCodec, PlacesCodec, WellKnownCodec } from "./golden/well-known/expected/well-known.js";

function expectRoundTrip<T>(codec: Codec<T>, value: T): void {
  const bytes = codec.encode(value);
  expect(codec.decode(bytes)).toEqual(value);
}

const scalars = {
  flag: true,
  real: Math.PI,
  single: 0.5,
  int32: -1,
  uint32: 4_294_967_295,
  sint32: -2_147_483_648,
  fixed32: 7,
  sfixed32: -7,
  int64: -(2n ** 63n),
  uint64: 2n ** 64n - 1n,
  sint64: -1n,
  fixed64: 1n,
  sfixed64: -1n,
  text: "naïve 日本 🦋",
  bytes: new Uint8Array([0, 1, 255]),
  at: new Date(1_700_000_000_000),
};

test("scalars and typed arrays survive a round trip", () => {
  expectRoundTrip(ScalarsCodec, scalars);
  expectRoundTrip(TypedArraysCodec, {
    int8: new Int8Array([-1]),
    clamped: new Uint8ClampedArray([255]),
    int16: new Int16Array([-1, 2]),
    uint16: new Uint16Array([]),
    int32: new Int32Array([1, 2, 3]),
    uint32: new Uint32Array([7]),
    bigInt64: new BigInt64Array([-1n]),
    bigUint64: new BigUint64Array([1n]),
    float32: new Float32Array([0.5]),
    float64: new Float64Array([Math.E]),
  });
});

const point = { x: 1, y: -0.5 };
const collections = {
  list: [1, 2, 3],
  fixed: ["a", ""],
  grid: [[1], [], [2, 3]],
  points: [point, point],
  pair: ["a", 1] as [string, number],
  labelled: ["b"] as const,
  tail: ["c", 1, 2, 3] as [string, ...number[]],
  byName: new Map([["p", point]]),
  byId: new Map([[1n, [point]]]),
  names: new Set(["x", "y"]),
  constant: new Set([1]),
  record: { p: point },
  indexed: { a: 1, ["__proto__"]: 2 },
  inline: { a: 1, b: { c: "d" } },
};

test("collections survive a round trip", () => {
  expectRoundTrip(CollectionsCodec, collections);
  expectRoundTrip(RowsCodec, [point]);
});

test("every layout refuses a Map in place of a record and null in place of an inline object", () => {
  const wrong = (changes: object, text: string) => {
    const value = { ...collections, ...changes };
    expect(() => CollectionsCodec.encode(value)).toThrow(text);
    expect(() => CollectionsCodec.toProtobuf(value)).toThrow(text);
    expect(() => CollectionsCodec.toJson(value)).toThrow(text);
  };
  wrong(
    { record: new Map([["p", point]]) },
    "cannot encode Collections.record: invalid Record: expected an object, got a Map",
  );
  wrong({ inline: null }, "cannot encode Collections.inline: invalid object: expected an object, got null");
});

test("absent fields stay absent and null stays null in a round trip", () => {
  const least = { required: "r", nullable: null, constant: false, list: [null, "a"] };
  expectRoundTrip(PresenceCodec, least);
  expect(Object.keys(PresenceCodec.decode(PresenceCodec.encode(least)))).toEqual(Object.keys(least));
  expectRoundTrip(PresenceCodec, { ...least, optional: "o", nullable: "n", both: null, nested: {} });
  expectRoundTrip(PresenceCodec, { ...least, both: 1, nested: { value: 2 } });
  expectRoundTrip(NothingCodec, {});
});

test("enums, unions and Oneofs survive a round trip", () => {
  const shape = { kind: "circle", radius: 2 } as const;
  expectRoundTrip(ChoicesCodec, {
    direction: "north",
    level: Level.Info,
    suit: Suit.Spades,
    shape,
    answer: { case: "shape", value: { kind: "polygon", sides: [3, 4, 5] } },
    mode: "on",
    constant: "fixed",
  });
  expectRoundTrip(ChoicesCodec, {
    direction: "west",
    level: Level.Debug,
    shape: { kind: "square", side: 1 },
    answer: null,
    mode: "off",
    constant: "fixed",
  });
});

test("generic types survive a round trip with generated and with hand-made argument codecs", () => {
  const items = { items: [{ id: 1 }, { id: 2 }], next: "n" };
  expectRoundTrip(PageCodec(ItemCodec), items);
  expectRoundTrip(PageCodec(codec.nullable(codec.string)), { items: ["a", null] });
  expectRoundTrip(UsesCodec, {
    items,
    pages: { items: [{ items: ["a"] }] },
    box: { value: { id: 1 }, empty: false },
    pair: [1, { value: "b" }],
    tagged: { tag: "t" },
  });
  expect(PageCodec(ItemCodec)).toBe(PageCodec(ItemCodec));
  expect(PageCodec(ItemCodec).name).toBe("Page<Item>");
});

test("recursive types survive a round trip, also across files", () => {
  const tree = { value: 1, left: { value: 2, right: { value: 3 } } };
  expectRoundTrip(TreeCodec, tree);
  expectRoundTrip(ListCodec(codec.int32), { head: 1, tail: { head: 2, tail: { head: 3 } } });
  expectRoundTrip(ACodec, { name: "a", b: { as: [{ name: "b" }], tree } });
  expectRoundTrip(ExpressionCodec, {
    op: "sum",
    terms: [
      { op: "number", value: 1 },
      { op: "negate", of: { op: "number", value: 2 } },
    ],
  });
});

test("a message in an Any is found in a registry of generated codecs by its protobuf name", () => {
  const registry = [ACodec, ExpressionCodec, AnswerCodec, TreeCodec];
  const inAny = <T>(name: string, codec: Codec<T>, value: T) => ({
    typeUrl: `type.googleapis.com/golden.v1.${name}`,
    value: codec.toProtobuf(value),
  });
  const expression = inAny("Expression", ExpressionCodec, { op: "number", value: 2 });
  for (const [any, json] of [
    [inAny("Tree", TreeCodec, { value: 1 }), { value: 1 }],
    [expression, { number: { value: 2 } }],
    [inAny("Answer", AnswerCodec, { case: "text", value: "a" }), { text: "a" }],
  ] as const) {
    expect(codec.any.toJson(any, { registry })).toEqual({ "@type": any.typeUrl, ...json });
    expect(codec.any.fromJson({ "@type": any.typeUrl, ...json }, { registry })).toEqual(any);
  }
  expect(() => codec.any.toJson(expression, { registry: [TreeCodec] })).toThrow(
    'cannot encode Any: invalid Any: no codec for "golden.v1.Expression" is in the registry',
  );
});

test("properties with arbitrary names survive a round trip", () => {
  const value = JSON.parse(
    `{"two words":"1","it's":"2","__proto__":"3","constructor":"4","class":"5","w":"6","value":"7"}`,
  );
  expectRoundTrip(EndpointCodec, value);
  expect(Object.keys(EndpointCodec.decode(EndpointCodec.encode(value)))).toEqual(Object.keys(value));
});

test("the error for an invalid value names the path of the value", () => {
  const wrong = { ...scalars, uint32: -1 };
  expect(() => ScalarsCodec.encode(wrong)).toThrow(
    "cannot encode Scalars.uint32: invalid uint32: expected an integer from 0 to 4294967295, got -1",
  );
  const page = { items: [{ id: 1 }, { id: Number.NaN }] };
  expect(() => PageCodec(ItemCodec).encode(page)).toThrow(/^cannot encode Page<Item>\.items\[1\]\.id: invalid int32: /);
});

test("descriptors contain the endpoints, arguments and parents of the schema, also across files", () => {
  const { endpoints, args, minArgs, maxArgs, name } = counterDescriptor;
  expect({ name, minArgs, maxArgs, args: args.name }).toEqual({
    name: "Counter",
    minArgs: 1,
    maxArgs: 2,
    args: "Counter",
  });
  expect(endpoints.map((endpoint) => [endpoint.name, endpoint.id, endpoint.minArgs, endpoint.maxArgs])).toEqual([
    ["increment", 1, 0, 1],
    ["value", 2, 0, 0],
    ["watch", 3, 1, 1],
    ["configure", 4, 2, 3],
    ["get", 5, 1, 1],
    ["ask", 6, 1, 1],
    ["total", 7, 0, 0],
    ["feed", 8, 2, 2],
    ["workers", 9, 2, 2],
    ["others", 10, 1, 1],
  ]);
  const flags = endpoints.map(({ stream, concurrent, idempotent, respond, timeout, reduce }) => {
    return Object.entries({ stream, concurrent, idempotent, respond, timeout, reduce }).filter(([, value]) => value);
  });
  expect(flags.map((set) => Object.fromEntries(set))).toEqual([
    ...[{}, {}, { stream: true }, { concurrent: true }, { idempotent: true, timeout: 5_000 }, { respond: true }],
    ...[{ reduce: "sum" }, {}, {}, { stream: true }],
  ]);
  expect(workerDescriptor.args.name).toBe("Worker");
  const parents = loudGreeterDescriptor.extends.map((parent) => parent());
  expect(parents.flatMap((parent) => [parent.name, ...parent.extends.map((named) => named().name)])).toEqual([
    "Greeter",
    "Named",
  ]);
});

test("arguments are encoded as tuples in which optional elements may be missing", () => {
  const configure = counterDescriptor.endpoints.find(({ name }) => name === "configure")!;
  expectRoundTrip(configure.args, [{ name: "n" }, true]);
  expectRoundTrip(configure.args, [{ name: "n", size: 1 }, true, "why"]);
  expect(() => configure.args.encode([{ name: 1 }, true])).toThrow(
    /^cannot encode Counter\.configure\(config\)\.name: invalid string/,
  );
});

const golden = fileURLToPath(new URL("golden/", import.meta.url));

/** Reads the schema of a case and the exports of the files that were generated from it. */
async function caseOf(name: string): Promise<{ schema: Schema; exports: Readonly<Record<string, unknown>> }> {
  const entries = readdirSync(`${golden}${name}/input`, { recursive: true, encoding: "utf8" });
  const files = entries.filter((entry) => entry.endsWith(".ts"));
  const source = openTypeSource({ exists: () => false });
  source.update(
    files.map((file) => ({ path: `schemas/${file}`, text: readFileSync(`${golden}${name}/input/${file}`, "utf8") })),
  );
  const modules = await Promise.all(
    files.map((file) => import(/* @vite-ignore */ `${golden}${name}/expected/${file}`)),
  );
  const exported = files.map((file, i) => [`schemas/${file}`, modules[i]]);
  return { schema: assignIds(readSchema(source, "golden").schema).schema, exports: Object.fromEntries(exported) };
}

test.each(readdirSync(golden))("codecs of %s have the fingerprints that the compiler computes", async (name) => {
  const { schema, exports } = await caseOf(name);
  const index = indexSchema(schema);
  const expected = fingerprint(index);
  for (const { path, types, actors } of schema.modules) {
    const module = exports[path] as Readonly<Record<string, Codec<unknown>>>;
    for (const type of types.filter(({ exported, typeParameters }) => exported && typeParameters.length === 0)) {
      const { fingerprint: found } = module[`${flatName(type.name)}Codec`] ?? {};
      expect([type.key, found]).toEqual([type.key, expected.declaration(type.key)]);
    }
    expect(actors.length).toBe(Object.keys(module).filter((exported) => exported.endsWith("Descriptor")).length);
  }
});

test("an instantiation made at run time has the fingerprint that the compiler computes for it", async () => {
  const { schema } = await caseOf("generics");
  const item = { kind: "ref", target: "schemas/generics.ts#Item", args: [] } as const;
  const page = { kind: "ref", target: "schemas/generics.ts#Page", args: [item] } as const;
  const list = { kind: "array", element: page, readonly: false } as const;
  const expected = fingerprint(indexSchema(schema)).type(list);
  expect(codec.array(PageCodec(ItemCodec)).fingerprint).toBe(expected);
});

test("well-known types survive a round trip in every layout and position", () => {
  const expectRoundTrips = <T>(codec: Codec<T>, value: T) => {
    expectRoundTrip(codec, value);
    expect(codec.fromProtobuf(codec.toProtobuf(value))).toEqual(value);
    expect(codec.fromJson(JSON.parse(JSON.stringify(codec.toJson(value))))).toEqual(value);
  };
  expectRoundTrips(WellKnownCodec, wellKnown);
  expectRoundTrips(PlacesCodec, places);
  expectRoundTrips(PlacesCodec, {
    ...places,
    maybe: at,
    orNull: wellKnown.duration,
    both: { value: "a" },
    maybeNothing: null,
  });
  expectRoundTrips(MomentsCodec, [at, at]);
  expect(WellKnownCodec.toJson(wellKnown)).toMatchObject({
    timestamp: "2023-11-14T22:13:20.000000005Z",
    duration: "-1.000000005s",
    mask: "a.b",
    struct: { list: [1, null, { deep: true }] },
    int64: "-1",
    bytes: "AQ==",
  });
});

const at = { seconds: 1_700_000_000n, nanos: 5 };
const mask = { paths: ["a.b"] };
const packed = { typeUrl: "type.googleapis.com/google.protobuf.Empty", value: new Uint8Array() };

const wellKnown = {
  timestamp: at,
  duration: { seconds: -1n, nanos: -5 },
  mask,
  empty: {},
  any: packed,
  struct: { list: [1, null, { deep: true }] },
  value: "text",
  list: [1, "a", null],
  nothing: null,
  double: { value: 0.5 },
  float: { value: 0.25 },
  int64: { value: -1n },
  uint64: { value: 1n },
  int32: { value: -1 },
  uint32: { value: 1 },
  bool: { value: true },
  text: { value: "" },
  bytes: { value: new Uint8Array([1]) },
};

const places = {
  orNull: null,
  both: null,
  many: [at],
  values: [null, [], {}],
  nothings: [null, null],
  byName: new Map([["a", packed]]),
  record: { a: { b: 1 } },
  pair: [at] as [typeof at],
  chosen: { case: "value" as const, value: [false] },
  apart: { case: "number" as const, value: { value: 7 } },
  named: at,
};

const line = { from: { x: 1, y: 2 }, to: { x: 3, y: -4 } };

test("a task has the names, the number and the codecs of its arguments, and the codec of its result", () => {
  expect(CountWordsTask).toMatchObject({
    key: "golden/schemas/geometry#CountWords",
    name: "CountWords",
    argNames: ["text", "shortest"],
    minArgs: 1,
    idempotent: true,
  });
  expect(CountWordsTask.args.map(({ name }) => name)).toEqual(["string", "uint32"]);
  expectRoundTrip(CountWordsTask.result as Codec<unknown>, new Map([["word", 2]]));
  expect(SquareTask.idempotent).toBe(false);
  expect(SweepTask.args).toEqual([]);
  expect(SweepTask.result).toBeUndefined();
  expect(ReportTask.args.map(({ name }) => name)).toEqual(["Port<Line>", "CounterMesh", "RdmaBuffer"]);
});

test("the arguments of a task that are written in place survive a round trip", () => {
  const values = [{ lines: [line], title: "t" }, [640, 480], "grey", { kind: "memory", limit: 7 }];
  for (const [i, value] of values.entries()) {
    expectRoundTrip(RenderTask.args[i] as Codec<unknown>, value);
    const bytes = RenderTask.args[i]!.toProtobuf(value);
    expect(RenderTask.args[i]!.fromProtobuf(bytes)).toEqual(value);
  }
});

test("the bytes of a result are those of an argument of the same type", () => {
  const pairs = [
    { result: CutTask.result!, arg: JoinTask.args[0]!, value: [line] },
    { result: CircleTask.result!, arg: SortTask.args[0]!, value: { items: [line] } },
    { result: SquareTask.result!, arg: SquareTask.args[0]!, value: 1.5 },
  ];
  for (const { result, arg, value } of pairs) {
    expect(arg.fingerprint).toBe(result.fingerprint);
    expect(arg.decode(result.encode(value))).toEqual(value);
  }
});

test("no value of an argument is encoded as no bytes, which stand for an absent argument", () => {
  const values = ["", 0];
  for (const [i, value] of values.entries()) expect(CountWordsTask.args[i]!.encode(value).length).toBeGreaterThan(0);
});

test("fingerprints of tasks are those of the compiler, and change with the name, the arguments and the result", () => {
  const of = (text: string) => {
    const source = openTypeSource({ exists: () => false });
    source.update([{ path: "schemas/a.ts", text: `import type { Task, Uint32 } from "viceroy/schema";\n${text}` }]);
    const { schema, diagnostics } = readSchema(source, "golden");
    expect(diagnostics).toEqual([]);
    return fingerprint(indexSchema(schema)).task(schema.modules[0]!.tasks[0]!.key);
  };
  expect(of("export interface Square extends Task<[n: number], number> {}")).toBe(SquareTask.fingerprint);
  expect(of("/** Other words. */\nexport interface Square extends Task<[other: number], number> {}")).toBe(
    SquareTask.fingerprint,
  );
  const others = [
    "export interface Cube extends Task<[n: number], number> {}",
    "export interface Square extends Task<[n: Uint32], number> {}",
    "export interface Square extends Task<[n?: number], number> {}",
    "export interface Square extends Task<[n: number, m: number], number> {}",
    "export interface Square extends Task<[n: number], Uint32> {}",
    "export interface Square extends Task<[n: number]> {}",
  ].map(of);
  expect(new Set([...others, SquareTask.fingerprint]).size).toBe(others.length + 1);
});
