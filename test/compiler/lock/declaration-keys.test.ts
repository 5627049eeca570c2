/** Checks where the lock keeps the blocks of declarations, aliases and inline shapes. */
import { expect, test } from "vitest";
import { AssignMemory, assignIds, type Lock, parseLock, printLock } from "../../../compiler/lock/index.js";
import type {
  ActorDeclaration,
  Module,
  Schema,
  Shape,
  Tags,
  Type,
  TypeDeclaration,
} from "../../../compiler/model/index.js";
import { actor, at, declare, endpoint, field, int32, message, param, schema, string } from "./schema.js";

const lines = (lock: Lock) => printLock(lock).trimEnd().split("\n").slice(1);
const reread = (lock: Lock) => parseLock("viceroy.lock", printLock(lock)).lock;
const inline = (shape: Shape): Type => ({ kind: "inline", shape });
const shape = (...names: readonly string[]): Shape => ({ kind: "message", fields: names.map((name) => field(name)) });
const here = inline(shape("x", "y"));

/** Ids of everything in a schema, in the order of the source. */
function idsOf(data: unknown): readonly number[] {
  if (typeof data !== "object" || data === null) return [];
  return Object.entries(data).flatMap(([key, value]) => (key === "id" ? [value as number] : idsOf(value)));
}

test.each<readonly [path: string, type: Type]>([
  ["Entry.f", here],
  ["Entry.f", { kind: "nullable", inner: here }],
  ["Entry.f[]", { kind: "array", element: here, readonly: false }],
  ["Entry.f[]", { kind: "set", element: here, readonly: false }],
  ["Entry.f(port)", { kind: "port", element: here }],
  ["Entry.f{key}", { kind: "map", key: here, value: string, readonly: false }],
  ["Entry.f{}", { kind: "map", key: string, value: here, readonly: false }],
  ["Entry.f{}", { kind: "record", value: here }],
  ["Entry.f<1>", { kind: "ref", target: "schemas/a.ts#Pair", args: [string, here] }],
  [
    "Entry.f[1]",
    { kind: "tuple", elements: [string, here].map((type) => ({ type, optional: false })), readonly: false },
  ],
  ["Entry.f[...]", { kind: "tuple", elements: [], rest: here, readonly: false }],
  ["Entry.f", inline({ kind: "alias", type: here })],
  ["Entry.f|open", inline({ kind: "union", discriminant: "kind", variants: [{ tag: "open", id: 0, type: here, at }] })],
  ['Entry.f|"a b"', inline({ kind: "union", discriminant: "kind", variants: [{ tag: "a b", id: 0, type: here, at }] })],
  ["Entry.f.case", inline({ kind: "oneof", cases: [field("case", here)] })],
])("an inline shape has the path %s and keeps its ids when its members change their order", (path, type) => {
  const first = assignIds(schema([message("Entry", field("f", type))]));
  expect(lines(first.lock)).toContain(`message ${path} in schemas/a next=3`);
  const turned = JSON.parse(JSON.stringify(type), (_, value) => {
    return value?.kind === "message" ? { ...value, fields: [...value.fields].reverse() } : value;
  }) as Type;
  const second = assignIds(schema([message("Entry", field("f", turned))]), reread(first.lock));
  expect(lines(second.lock)).toEqual(lines(first.lock));
  expect(idsOf(first.schema.modules[0]!.types).slice(-2)).toEqual([1, 2]);
  expect(idsOf(second.schema.modules[0]!.types).slice(-2)).toEqual([2, 1]);
});

test("inline shapes of parameters, results and constructor arguments each have a path of their own", () => {
  const store = actor("Store", [param("at", here)], endpoint("put", [param("at", here)], here));
  const { lock, schema: assigned } = assignIds(schema([], [store]));
  const shapes = lines(lock).filter((line) => line.startsWith("message"));
  expect(shapes.map((line) => line.split(" ")[1])).toEqual(["Store().at", "Store.put->", "Store.put.at"]);
  expect(idsOf(assigned.modules[0]!.actors[0]!.args)).toEqual([1, 1, 2]);
  expect(idsOf(assigned.modules[0]!.actors[0]!.endpoints)).toEqual([1, 1, 1, 2, 1, 2]);
  expect(lines(assignIds(schema([], [store]), reread(lock)).lock)).toEqual(lines(lock));
});

test("arguments of a constructor keep their ids when others are added or removed", () => {
  const first = assignIds(schema([], [actor("Store", [param("a"), param("b", int32)])]));
  const { lock } = assignIds(schema([], [actor("Store", [param("c", int32), param("b", int32)])]), reread(first.lock));
  expect(lines(lock)[1]).toBe("  0 new next=4 (1 -a: string, 2 b: int32, 3 c: int32) -> void");
});

test("the lock marks a streaming endpoint, and an endpoint with @retired leaves the schema but keeps its ids", () => {
  const get = { ...endpoint("get", [param("key")], string), stream: true };
  const put = (tags: Tags) => endpoint("put", [param("key")], undefined, tags);
  const first = assignIds(schema([], [actor("Store", [], get, put({}))]));
  expect(lines(first.lock).slice(2)).toEqual([
    "  1 get next=2 (1 key: string) -> stream<string>",
    "  2 put next=2 (1 key: string) -> void",
  ]);
  const second = assignIds(schema([], [actor("Store", [], get, put({ retired: true }))]), reread(first.lock));
  expect(lines(second.lock)[3]).toBe("  2 -put next=2 (1 key: string) -> void");
  expect(second.schema.modules[0]!.actors[0]!.endpoints.map(({ name }) => name)).toEqual(["get"]);
  const third = assignIds(schema([], [actor("Store", [], get)]), reread(second.lock));
  expect(lines(third.lock)).toEqual(lines(second.lock));
});

test("a renamed parameter keeps its id only at the same position with the same type", () => {
  const put = (...params: Parameters<typeof endpoint>[1]) => schema([], [actor("Store", [], endpoint("put", params))]);
  const first = assignIds(put(param("a"), param("b"), param("c", int32)));
  const line = (lock: Lock) => lines(lock)[2];
  const later = (next: Schema, lock = first.lock) => assignIds(next, reread(lock)).lock;
  expect(line(later(put(param("a"), param("x"), param("c", int32))))).toContain(
    "(1 a: string, 2 x: string, 3 c: int32)",
  );
  expect(line(later(put(param("b"), param("a"), param("c", int32))))).toContain(
    "(1 a: string, 2 b: string, 3 c: int32)",
  );
  expect(line(later(put(param("a"), param("x", int32), param("c", int32))))).toContain(
    "(1 a: string, 2 -b: string, 3 c: int32, 4 x: int32)",
  );
  // A parameter is not renamed when its old name is still in use at another position.
  expect(line(later(put(param("x"), param("a"), param("c", int32))))).toContain(
    "(1 a: string, 2 -b: string, 3 c: int32, 4 x: string)",
  );
  const gone = later(put(param("b"), param("c", int32)));
  expect(line(gone)).toContain("(1 -a: string, 2 b: string, 3 c: int32)");
  expect(line(later(put(param("x"), param("c", int32)), gone))).toContain("(1 -a: string, 2 x: string, 3 c: int32)");
  const optional = assignIds(put({ ...param("a"), optional: true }));
  expect(line(optional.lock)).toBe("  1 put next=2 (1 a: string?) -> void");
});

test("an alias has a block with its type in a lock of format 2, beside the block of its inline shape", () => {
  const age = declare("Age", { kind: "alias", type: int32 });
  const place = declare("Place", { kind: "alias", type: here });
  const { lock } = assignIds(schema([age, place, message("Entry", field("a"))]));
  expect(printLock(lock).split("\n")[0]).toBe(
    "# viceroy lock 2 · written by `viceroy compile` · ids are never reused · review every change",
  );
  expect(lines(lock)).toEqual([
    ...["alias Age in schemas/a next=2", "  1 type int32"],
    ...["message Entry in schemas/a next=2", "  1 a string"],
    ...["alias Place in schemas/a next=2", "  1 type message"],
    ...["message Place in schemas/a next=3", "  1 x string", "  2 y string"],
  ]);
});

const level = (
  ...values: readonly (readonly [name: string, value: string | number, tags?: Tags, aliases?: readonly string[]])[]
) =>
  schema([
    declare("Level", {
      kind: "enum",
      origin: "enum",
      values: values.map(([name, value, tags, aliases]) => ({
        ...{ name, value, id: 0, doc: "", at },
        ...(tags && { tags }),
        ...(aliases && { aliases: aliases.map((alias) => ({ name: alias, doc: "", at })) }),
      })),
    }),
  ]);

test("numbers of an enum are its ids, a removed value is a tombstone, and only @was records a former name", () => {
  const first = assignIds(level(["Low", 1], ["Mid", 2], ["High", 5]));
  expect(idsOf(first.schema.modules[0]!.types)).toEqual([1, 2, 5]);
  const second = assignIds(level(["Least", 1, { was: "Low" }], ["Middle", 2], ["Top", 7]), reread(first.lock));
  expect(second.problems).toEqual([]);
  expect(lines(second.lock)).toEqual([
    "enum Level in schemas/a next=8",
    "  1 Least was=Low",
    "  2 Middle",
    "  5 -High",
    "  7 Top",
  ]);
  const third = assignIds(level(["Zero", 1, { was: "Least" }], ["Middle", 2], ["High", 5]), reread(second.lock));
  expect(lines(third.lock)).toEqual([
    "enum Level in schemas/a next=8",
    "  1 Zero was=Low,Least",
    "  2 Middle",
    "  5 High",
    "  7 -Top",
  ]);
  // The tag may stay in the source, and the former name may remain as an alias of the value.
  const fourth = assignIds(
    level(["Zero", 1, { was: "Least" }], ["Second", 2, {}, ["Middle"]], ["High", 5]),
    reread(third.lock),
  );
  expect(fourth.problems).toEqual([]);
  expect(lines(fourth.lock)[1]).toBe("  1 Zero was=Low,Least");
  expect(lines(fourth.lock)[2]).toBe("  2 Second");
});

test("@was with an unknown name of an enum value is a problem once a lock exists", () => {
  const wrong = level(["Least", 1, { was: "Lowest" }]);
  expect(assignIds(wrong).problems).toEqual([]);
  const { lock } = assignIds(level(["Low", 1]));
  expect(assignIds(wrong, reread(lock)).problems).toEqual([
    { kind: "wasUnknown", at, member: "Level.Least", was: "Lowest" },
  ]);
  expect(assignIds(level(["Low", 1], ["New", 2, { was: "Old" }]), reread(lock)).problems).toEqual([
    { kind: "wasUnknown", at, member: "Level.New", was: "Old" },
  ]);
});

test.each([
  {
    what: "strings",
    values: [
      ["a", "a"],
      ["b", "b"],
    ] as const,
  },
  {
    what: "a number and a string",
    values: [
      ["1", 1],
      ["b", "b"],
    ] as const,
  },
  {
    what: "a fraction",
    values: [
      ["half", 0.5],
      ["one", 1],
    ] as const,
  },
])("values of an enum of $what get ids in the order of the source", ({ values }) => {
  const { schema: assigned } = assignIds(level(...values));
  expect(idsOf(assigned.modules[0]!.types)).toEqual([1, 2]);
});

test("reserved numbers are given to no new member of the declaration, but to members of its inline shapes", () => {
  const reserved = { numbers: [1, 3], names: [], at };
  const entry = (name: string) => ({ ...message(name, field("a"), field("b"), field("c", here)), reserved });
  const other = message("Other", field("a"));
  const { lock } = assignIds(schema([entry("Größe_$1"), other] as readonly TypeDeclaration[]));
  expect(lines(lock)).toEqual([
    ...["message Größe_$1 in schemas/a next=6", "  2 a string", "  4 b string", "  5 c message"],
    ...["message Größe_$1.c in schemas/a next=3", "  1 x string", "  2 y string"],
    ...["message Other in schemas/a next=2", "  1 a string"],
  ]);
});

function files(
  ...modules: readonly (readonly [
    path: string,
    types: readonly TypeDeclaration[],
    actors?: readonly ActorDeclaration[],
  ])[]
): Schema {
  const moduleOf = ([path, types, actors = []]: (typeof modules)[number]): Module => ({
    path,
    types,
    actors,
    tasks: [],
  });
  return { package: "shop", modules: modules.map(moduleOf) };
}

test("two files that declare the same name have separate blocks, and neither takes the block of the other", () => {
  const ab = message("Entry", field("a"), field("b"));
  const ba = message("Entry", field("b"), field("a"));
  const { lock } = assignIds(files(["schemas/a.ts", [ab]], ["schemas/b.ts", [ba]]));
  const turned = assignIds(files(["schemas/a.ts", [ba]], ["schemas/b.ts", [ab]]), reread(lock));
  expect(lines(turned.lock)).toEqual(lines(lock));
  expect(turned.schema.modules.map((module) => idsOf(module))).toEqual([
    [2, 1],
    [2, 1],
  ]);
  const copied = assignIds(
    files(["schemas/a.ts", [ab]], ["schemas/c.ts", [ba]], ["schemas/d.ts", [{ ...ab }]]),
    reread(lock),
  );
  expect(lines(copied.lock).filter((line) => line.includes("Entry"))).toEqual([
    "message Entry in schemas/a next=3",
    "message Entry in schemas/c next=3",
    "message Entry in schemas/d next=3",
  ]);
  // Only one of the two new files can continue the block that has lost its file.
  expect(copied.schema.modules.map((module) => idsOf(module))).toEqual([
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
});

test("a new file does not take the block of a file that still declares the same name", () => {
  const ab = message("Entry", field("a"), field("b"));
  const { lock } = assignIds(files(["schemas/b.ts", [ab]]));
  const ba = message("Entry", field("b"), field("a"));
  const copied = assignIds(files(["schemas/a.ts", [ba]], ["schemas/b.ts", [ab]]), reread(lock));
  expect(copied.schema.modules.map((module) => idsOf(module))).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test.each<readonly [what: string, type: Type]>([
  ["a shape in place", here],
  ["a shape in place or null", { kind: "nullable", inner: here }],
])("a new file does not take the block of an alias of %s that has the same name", (_, type) => {
  const place = declare("Place", { kind: "alias", type });
  const { lock } = assignIds(files(["schemas/b.ts", [place]]));
  const yx = message("Place", field("y"), field("x"));
  const copied = assignIds(files(["schemas/a.ts", [yx]], ["schemas/b.ts", [place]]), reread(lock));
  expect(copied.schema.modules.map((module) => idsOf(module))).toEqual([
    [1, 2],
    [1, 2],
  ]);
});

test("an actor in a new file does not take the block of an actor of the same name in another file", () => {
  const store = (...params: Parameters<typeof actor>[1]) => actor("Store", params);
  const { lock, schema: first } = assignIds(files(["schemas/b.ts", [], [store(param("a"))]]));
  const { schema: copied } = assignIds(
    files(["schemas/a.ts", [], [store(param("b", int32))]], ["schemas/b.ts", [], [store(param("a"))]]),
    reread(lock),
  );
  const idOf = (next: Schema, i: number) => next.modules[i]?.actors[0]?.id;
  expect(idOf(copied, 1)).toBe(idOf(first, 0));
  expect(idOf(copied, 0)).not.toBe(idOf(first, 0));
});

test("a declaration in a new file continues no block when several blocks of its name have lost their files", () => {
  const ab = message("Entry", field("a"), field("b"));
  const ba = message("Entry", field("b"), field("a"));
  const { lock } = assignIds(files(["schemas/a.ts", [ab]], ["schemas/b.ts", [{ ...ab }]]));
  const { lock: next } = assignIds(files(["schemas/c.ts", [ba]]), reread(lock));
  expect(lines(next)).toEqual([
    ...["-message Entry in schemas/a next=3", "  1 a string", "  2 b string"],
    ...["-message Entry in schemas/b next=3", "  1 a string", "  2 b string"],
    ...["message Entry in schemas/c next=3", "  1 b string", "  2 a string"],
  ]);
});

test("the id of an actor depends on package, file and name, and differs from ids that are taken", () => {
  const store = actor("Store", []);
  const idOf = (next: Schema, lock?: Lock) => assignIds(next, lock).schema.modules[0]!.actors[0]!.id;
  const id = idOf(schema([], [store]));
  const others = [
    schema([], [actor("Shop", [])]),
    schema([], [store], "schemas/b.ts"),
    { ...schema([], [store]), package: "other" },
  ].map((next) => idOf(next));
  expect(new Set([id, ...others]).size).toBe(4);
  expect(idOf(schema([], [store]))).toBe(id);
  const taken = `actor Other in schemas/z 0x${id.toString(16).padStart(8, "0")} next=1\n  0 new next=1 () -> void`;
  const { lock } = parseLock("viceroy.lock", `${printLock({ blocks: [], accepted: [] })}${taken}\n`);
  expect(idOf(schema([], [store]), lock)).not.toBe(id);
});

test("assignIds with a memory gives the same result as without it, and reuses objects that have not changed", () => {
  const entry = message("Entry", field("a"), field("c", here));
  const order = message("Order", field("x"));
  const tagged = message("Bad", field("b", string, { was: "never" }));
  const store = actor("Store", [], endpoint("put", [param("at", here)]));
  const renamed = message("Entry", field("a"), field("d", here, { was: "c" }));
  const lone = message("Lone", field("x"), field("y"));
  const before = [message("Entry", field("c", here), field("a")), order];
  const { lock: fresh } = assignIds(
    files(["schemas/a.ts", before, [store]], ["schemas/z.ts", [message("Lone", field("y"), field("x"))]]),
  );
  const lock = reread(fresh);
  const memory = new AssignMemory();
  const steps = [
    files(["schemas/a.ts", [entry, order], [store]], ["schemas/b.ts", [tagged]]),
    files(["schemas/a.ts", [entry, order], [store]], ["schemas/b.ts", [tagged]]),
    files(["schemas/a.ts", [entry, message("Order", field("x"), field("y"))], [store]], ["schemas/b.ts", [tagged]]),
    files(["schemas/a.ts", [entry], [store]], ["schemas/b.ts", [{ ...order }, tagged]]),
    files(["schemas/a.ts", [entry, order], [store]], ["schemas/b.ts", [{ ...order }]]),
    files(["schemas/a.ts", [entry, order]], ["schemas/b.ts", [tagged], [{ ...store }]]),
    ...[renamed, renamed].map((next) => files(["schemas/a.ts", [next]])),
    files(["schemas/a.ts", [lone]]),
    files(["schemas/a.ts", [lone]], ["schemas/z.ts", [message("Lone", field("y"), field("x"))]]),
  ];
  for (const step of steps) {
    const [remembered, alone] = [assignIds(step, lock, memory), assignIds(step, lock)];
    expect(remembered.schema).toEqual(alone.schema);
    expect(printLock(remembered.lock)).toBe(printLock(alone.lock));
    expect(remembered.problems).toEqual(alone.problems);
  }
  const [one, two] = [assignIds(steps[0]!, lock, memory), assignIds(steps[2]!, lock, memory)];
  const again = assignIds(steps[2]!, lock, memory);
  expect(again.schema.modules[0]).toBe(two.schema.modules[0]);
  expect(two.schema.modules[0]!.types[0]).toBe(one.schema.modules[0]!.types[0]);
  expect(two.schema.modules[0]!.types[1]).not.toBe(one.schema.modules[0]!.types[1]);
  // Another lock may give other ids.
  const [, empty] = [again, assignIds(steps[0]!, { blocks: [], accepted: [] }, memory)];
  expect(empty.schema).toEqual(assignIds(steps[0]!).schema);
});
