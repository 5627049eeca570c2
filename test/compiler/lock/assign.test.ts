import { expect, test } from "vitest";
import { assignIds, type Lock, parseLock, printLock } from "../../../compiler/lock/index.js";
import type { Schema, Tags, Type } from "../../../compiler/model/index.js";
import { lockDiagnostic } from "../../../compiler/pipeline/lock-diagnostics.js";
import { actor, at, declare, endpoint, field, int32, message, param, schema, string } from "./schema.js";

function locked(...versions: readonly Schema[]): Lock {
  let lock: Lock | undefined;
  for (const version of versions) lock = parseLock("viceroy.lock", printLock(assignIds(version, lock).lock)).lock;
  return lock as Lock;
}

function lines(lock: Lock): readonly string[] {
  return printLock(lock).trimEnd().split("\n").slice(1);
}

function problems(next: Schema, ...earlier: readonly Schema[]) {
  return assignIds(next, locked(...earlier)).problems;
}

test("ids follow the order of declaration at first and stay the same when the order changes", () => {
  const first = schema([message("Entry", field("a"), field("b", int32))]);
  const second = schema([message("Entry", field("c"), field("b", int32), field("a"))]);
  expect(lines(locked(first, second))).toEqual([
    "message Entry in schemas/a next=4",
    "  1 a string",
    "  2 b int32",
    "  3 c string",
  ]);
  const { shape } = assignIds(second, locked(first)).schema.modules[0]!.types[0]!;
  expect(shape.kind === "message" && shape.fields.map(({ name, id }) => `${name}=${id}`)).toEqual([
    "c=3",
    "b=2",
    "a=1",
  ]);
});

test("a removed member stays in the lock as a tombstone, and gets a new id when it is declared again", () => {
  const both = schema([message("Entry", field("a"), field("b", int32))]);
  const one = schema([message("Entry", field("a"))]);
  expect(lines(locked(both, one))).toEqual(["message Entry in schemas/a next=3", "  1 a string", "  2 -b int32"]);
  expect(lines(locked(both, one, both))).toEqual([
    "message Entry in schemas/a next=4",
    "  1 a string",
    "  2 -b int32",
    "  3 b int32",
  ]);
});

test("@was keeps the id of a renamed member, and the lock keeps the former name without the tag", () => {
  const before = schema([message("Entry", field("ttl", int32))]);
  const tagged = schema([message("Entry", field("expiry", int32, { was: "ttl" }))]);
  const after = schema([message("Entry", field("expiry", int32))]);
  const expected = ["message Entry in schemas/a next=2", "  1 expiry int32 was=ttl"];
  expect(lines(locked(before, tagged))).toEqual(expected);
  expect(lines(locked(before, tagged, tagged, after))).toEqual(expected);
  expect(problems(tagged, before)).toEqual([]);
});

test("@was with an unknown name of a member is a problem", () => {
  const tagged = schema([message("Entry", field("b", int32, { was: "x" }))]);
  expect(problems(tagged, schema([message("Entry", field("a"))]))).toContainEqual({
    kind: "wasUnknown",
    at,
    member: "Entry.b",
    was: "x",
  });
});

test("@id gives a new member its id, and a problem when the lock has another id", () => {
  const asked = schema([message("Entry", field("a"), field("b", string, { id: 1 }), field("c", string, { id: 7 }))]);
  expect(lines(locked(asked))).toEqual([
    "message Entry in schemas/a next=8",
    "  1 b string",
    "  2 a string",
    "  7 c string",
  ]);
  const changed = schema([message("Entry", field("a", string, { id: 3 }), field("b", string, { id: 1 }))]);
  expect(problems(changed, asked)).toEqual([{ kind: "idChanged", at, member: "Entry.a", locked: 2, asked: 3 }]);
});

test("an @id that a member has or had, or that is out of range, is a problem", () => {
  const before = schema([message("Entry", field("a"), field("b"))]);
  const gone = schema([message("Entry", field("a"))]);
  const taken = schema([message("Entry", field("a"), field("x", int32, { id: 2 }), field("y", int32, { id: 1 }))]);
  expect(problems(taken, before, gone)).toEqual([
    { kind: "idTaken", at, member: "Entry.x", id: 2, holder: "Entry.b", retired: true },
    { kind: "idTaken", at, member: "Entry.y", id: 1, holder: "Entry.a", retired: false },
  ]);
  const odd = schema([message("Entry", field("a", string, { id: 0 }), field("b", string, { id: 19_500 }))]);
  expect(problems(odd).map((problem) => problem.kind)).toEqual(["idRange", "idRange"]);
});

test("@retired takes a member out of the schema and keeps its tombstone", () => {
  const before = schema([message("Entry", field("a"), field("b"))]);
  const after = schema([message("Entry", field("a"), field("b", string, { retired: true }))]);
  const result = assignIds(after, locked(before));
  expect(lines(result.lock)).toEqual(["message Entry in schemas/a next=3", "  1 a string", "  2 -b string"]);
  const { shape } = result.schema.modules[0]!.types[0]!;
  expect(shape.kind === "message" && shape.fields.map(({ name }) => name)).toEqual(["a"]);
  expect(lines(locked(before, after, after))).toEqual(lines(result.lock));
});

test("a removed and an added member of the same type are reported as a possible rename", () => {
  const before = schema([message("Entry", field("ttl", int32))]);
  expect(problems(schema([message("Entry", field("expiry", int32))]), before)).toEqual([
    { kind: "ambiguousRename", at, declaration: "Entry", isInPlace: false, removed: "ttl", added: "expiry" },
  ]);
  expect(problems(schema([message("Entry", field("expiry", string))]), before)).toEqual([]);
  expect(problems(schema([message("Entry", field("expiry", int32, { id: 9 }))]), before)).toEqual([]);
});

test("an actor has lines for its constructor and endpoints, and keeps its 32-bit id when it moves", () => {
  const store = actor(
    "Store",
    [param("size", int32)],
    endpoint("get", [param("key")], string),
    endpoint("put", [param("key"), param("n", int32)]),
  );
  const lock = locked(schema([], [store]));
  expect(lines(lock)).toEqual([
    expect.stringMatching(/^actor Store in schemas\/a 0x[0-9a-f]{8} next=3$/),
    "  0 new next=2 (1 size: int32) -> void",
    "  1 get next=2 (1 key: string) -> string",
    "  2 put next=3 (1 key: string, 2 n: int32) -> void",
  ]);
  const moved = assignIds(schema([], [store], "schemas/b.ts"), lock);
  expect(moved.schema.modules[0]!.actors[0]!.id).toBe(lock.blocks[0]!.id);
  expect(moved.lock.blocks).toHaveLength(1);
});

test("a parameter that is renamed at its position keeps its id, and a replaced parameter does not", () => {
  const v1 = schema([], [actor("Store", [], endpoint("put", [param("key"), param("n", int32)]))]);
  const renamed = schema([], [actor("Store", [], endpoint("put", [param("id"), param("n", int32)]))]);
  const replaced = schema([], [actor("Store", [], endpoint("put", [param("n", int32), param("flag")]))]);
  expect(lines(locked(v1, renamed))[2]).toBe("  1 put next=3 (1 id: string, 2 n: int32) -> void");
  expect(lines(locked(v1, replaced))[2]).toBe("  1 put next=4 (1 -key: string, 2 n: int32, 3 flag: string) -> void");
});

test("the lock identifies inline shapes by their paths", () => {
  const meta = { kind: "inline", shape: { kind: "message", fields: [field("x")] } } as const;
  const outer = schema(
    [message("Entry", field("metas", { kind: "array", element: meta, readonly: false }))],
    [actor("A", [], endpoint("f", [param("p", meta)], meta))],
  );
  expect(lines(locked(outer)).filter((line) => line.startsWith("message"))).toEqual([
    "message A.f-> in schemas/a next=2",
    "message A.f.p in schemas/a next=2",
    "message Entry in schemas/a next=2",
    "message Entry.metas[] in schemas/a next=2",
  ]);
});

test("numbers of an enum are their own ids, and string literals get ids", () => {
  const values = (list: readonly (readonly [string, string | number])[]) =>
    list.map(([name, value]) => ({ name, value, id: 0, doc: "", at }));
  const types = [
    declare("Level", {
      kind: "enum",
      origin: "enum",
      values: values([
        ["Low", -1],
        ["High", 5],
      ]),
    }),
    declare("Color", {
      kind: "enum",
      origin: "literals",
      values: values([
        ["red", "red"],
        ["sea green", "sea green"],
      ]),
    }),
    declare("Event", { kind: "union", discriminant: "kind", variants: [{ tag: "opened", id: 0, type: string, at }] }),
  ];
  expect(lines(locked(schema(types)))).toEqual([
    "enum Color in schemas/a next=3",
    "  1 red",
    '  2 "sea green"',
    "union Event in schemas/a next=2",
    "  1 opened string",
    "enum Level in schemas/a next=6",
    "  -1 Low",
    "  5 High",
  ]);
});

test("values of a string enum may request ids with @id and keep them when @was renames them", () => {
  const colours = (...values: readonly (readonly [name: string, value: string, tags?: Tags])[]) =>
    declare("Colour", {
      kind: "enum",
      origin: "enum",
      values: values.map(([name, value, tags = {}]) => ({ name, value, id: 0, doc: "", tags, at })),
    });
  const before = locked(schema([colours(["Red", "r", { id: 7 }], ["Blue", "b"])]));
  expect(lines(before)).toEqual(["enum Colour in schemas/a next=8", "  1 Blue", "  7 Red"]);
  const { lock, problems } = assignIds(
    schema([colours(["Rot", "r", { was: "Red" }], ["Blue", "b", { id: 2 }])]),
    before,
  );
  expect(lines(lock)).toEqual(["enum Colour in schemas/a next=8", "  1 Blue", "  7 Rot was=Red"]);
  expect(problems).toEqual([{ kind: "idChanged", at, member: "Colour.Blue", locked: 1, asked: 2 }]);
});

test("values of an enum may be any signed 32-bit number", () => {
  const flags = declare("Flags", {
    kind: "enum",
    origin: "enum",
    values: [-(2 ** 31), 2 ** 31 - 1].map((value, i) => ({ name: `F${i}`, value, id: 0, doc: "", at })),
  });
  const { problems } = parseLock("viceroy.lock", printLock(locked(schema([flags]))));
  expect(problems).toEqual([]);
});

test("new members do not get the ids of cases of a flattened oneof", () => {
  const tagged = (name: string, id: number) => ({ ...field(name), tags: { id } });
  const shape = { kind: "oneof", cases: [tagged("a", 2), tagged("b", 4)] } as const;
  const entry = message("Entry", field("x", { kind: "inline", shape }), field("y"), field("z"));
  expect(lines(locked(schema([entry]))).slice(0, 4)).toEqual([
    "message Entry in schemas/a next=6",
    "  1 x oneof",
    "  3 y string",
    "  5 z string",
  ]);
});

test("a removed declaration leaves its block as a tombstone and continues it when it is declared again", () => {
  const entry = message("Entry", field("a"), field("b"));
  const without = locked(schema([entry]), schema([]));
  expect(lines(without)[0]).toBe("-message Entry in schemas/a next=3");
  expect(lines(assignIds(schema([entry]), without).lock)).toEqual(lines(locked(schema([entry]))));
});

test("the printed lock does not depend on the order of declarations", () => {
  const types = [message("B", field("x")), message("A", field("y"))];
  expect(printLock(locked(schema(types)))).toBe(printLock(locked(schema([...types].reverse()))));
});

test("an inline shape keeps its ids when a member on its path is renamed", () => {
  const inline = (...fields: readonly ReturnType<typeof field>[]): Type => {
    return { kind: "inline", shape: { kind: "message", fields } };
  };
  const deep = (name: string, tags = {}) => field(name, inline(field("x"), field("y")), tags);
  const deepTurned = (name: string, tags = {}) => field(name, inline(field("y"), field("x")), tags);
  const before = schema(
    [message("Entry", field("meta", inline(field("a"), deep("b"))), field("metadata", inline(field("m"))))],
    [actor("Store", [], endpoint("put", [param("at", inline(field("a"), field("b")))]))],
  );
  const after = schema(
    [
      message(
        "Entry",
        field("info", inline(deepTurned("c", { was: "b" }), field("a")), { was: "meta" }),
        field("metadata", inline(field("m"))),
      ),
    ],
    [actor("Store", [], endpoint("set", [param("place", inline(field("b"), field("a")))], undefined, { was: "put" }))],
  );
  const expected = [
    "message Entry in schemas/a next=3",
    "  1 info message was=meta",
    "  2 metadata message",
    "message Entry.info in schemas/a next=3",
    "  1 a string",
    "  2 c message was=b",
    "message Entry.info.c in schemas/a next=3",
    "  1 x string",
    "  2 y string",
    "message Entry.metadata in schemas/a next=2",
    "  1 m string",
    lines(locked(before)).find((line) => line.startsWith("actor")),
    "  0 new next=1 () -> void",
    "  1 set next=2 (1 place: message) -> void was=put",
    "message Store.set.place in schemas/a next=3",
    "  1 a string",
    "  2 b string",
  ];
  expect(lines(locked(before, after))).toEqual(expected);
  expect(lines(locked(before, after, after))).toEqual(expected);
});

test.each(["before", "after"])("a new member, declared %s a renamed member, may take its former name", (place) => {
  const before = schema([message("Entry", field("ttl", int32))]);
  const renamed = field("expiry", int32, { was: "ttl" });
  const fields = place === "before" ? [field("ttl", int32), renamed] : [renamed, field("ttl", int32)];
  const after = assignIds(schema([message("Entry", ...fields)]), locked(before));
  expect(after.problems).toEqual([]);
  const expected = ["message Entry in schemas/a next=3", "  1 expiry int32 was=ttl", "  2 ttl int32"];
  expect(lines(after.lock)).toEqual(expected);
  expect(lines(assignIds(schema([message("Entry", ...fields)]), after.lock).lock)).toEqual(expected);
});

test.each([{ order: ["a", "b", "c"] }, { order: ["c", "b", "a"] }, { order: ["b", "c", "a"] }])(
  "members that each take the former name of the next member keep their ids: $order",
  ({ order }) => {
    const before = schema([message("Entry", field("b"), field("c"), field("d"))]);
    const fields: Record<string, ReturnType<typeof field>> = {
      a: field("a", string, { was: "b" }),
      b: field("b", string, { was: "c" }),
      c: field("c", string, { was: "d" }),
    };
    const { lock, problems } = assignIds(
      schema([message("Entry", ...order.map((name) => fields[name]!))]),
      locked(before),
    );
    expect(problems).toEqual([]);
    expect(lines(lock)).toEqual([
      "message Entry in schemas/a next=4",
      "  1 a string was=b",
      "  2 b string was=c",
      "  3 c string was=d",
    ]);
  },
);

test("two members with the same @was are a problem and do not share an id", () => {
  const before = schema([message("Entry", field("ttl", int32))]);
  const both = schema([message("Entry", field("a", int32, { was: "ttl" }), field("b", int32, { was: "ttl" }))]);
  const { lock, problems } = assignIds(both, locked(before));
  expect(problems).toEqual([{ kind: "wasTaken", at, member: "Entry.b", was: "ttl", holder: "Entry.a" }]);
  expect(problems.map((problem) => lockDiagnostic(problem))).toMatchObject([
    { code: "VC2011", text: "@was ttl of Entry.b: Entry.a had this name, too, and keeps the id" },
  ]);
  expect(lines(lock)).toEqual(["message Entry in schemas/a next=3", "  1 a int32 was=ttl", "  2 b int32"]);
});

test.each(["before", "after"])(
  "an inline shape stays with its renamed member when a new member, declared %s it, takes the old name",
  (place) => {
    const inline = (...fields: readonly ReturnType<typeof field>[]): Type => {
      return { kind: "inline", shape: { kind: "message", fields } };
    };
    const renamed = field("info", inline(field("y"), field("x")), { was: "meta" });
    const added = field("meta", inline(field("z")));
    const lock = locked(
      schema([message("Entry", field("meta", inline(field("x"), field("y"))))]),
      schema([message("Entry", ...(place === "before" ? [added, renamed] : [renamed, added]))]),
    );
    expect(lines(lock)).toEqual([
      "message Entry in schemas/a next=3",
      "  1 info message was=meta",
      "  2 meta message",
      "message Entry.info in schemas/a next=3",
      "  1 x string",
      "  2 y string",
      "message Entry.meta in schemas/a next=2",
      "  1 z string",
    ]);
  },
);

test("a new inline shape replaces the one of a renamed member whose type has changed", () => {
  const inline = (name: string): Type => ({ kind: "inline", shape: { kind: "message", fields: [field(name)] } });
  const lock = locked(
    schema([message("Entry", field("meta", inline("x")))]),
    schema([message("Entry", field("info", string, { was: "meta" }), field("meta", inline("y")))]),
  );
  expect(lines(lock)).toEqual([
    "message Entry in schemas/a next=3",
    "  1 info string was=meta",
    "  2 meta message",
    "message Entry.meta in schemas/a next=2",
    "  1 y string",
  ]);
});

test("an @id must be in the range of protobuf and may be requested only once", () => {
  const asked = (...ids: readonly number[]) =>
    schema([message("Entry", ...ids.map((id, i) => field(`f${i}`, string, { id })))]);
  expect(problems(asked(536_870_911, 1, 18_999, 20_000))).toEqual([]);
  for (const id of [536_870_912, 0, -1, 1.5, 19_000, 19_999]) {
    expect(problems(asked(id))).toEqual([{ kind: "idRange", at, member: "Entry.f0", id }]);
  }
  expect(problems(asked(4, 4))).toEqual([
    { kind: "idTaken", at, member: "Entry.f1", id: 4, holder: "Entry.f0", retired: false },
  ]);
});

test("new ids skip the range that protobuf reserves", () => {
  const next = parseLock(
    "viceroy.lock",
    `${printLock({ blocks: [], accepted: [] })}message Entry in schemas/a next=19000\n`,
  );
  const { lock } = assignIds(schema([message("Entry", field("a"), field("b"))]), next.lock);
  expect(lines(lock)).toEqual(["message Entry in schemas/a next=20002", "  20000 a string", "  20001 b string"]);
});

test("a new member with @retired becomes a tombstone immediately", () => {
  const next = schema([message("Entry", field("a"), field("b", int32, { retired: true }))]);
  expect(lines(locked(next))).toEqual(["message Entry in schemas/a next=3", "  1 a string", "  2 -b int32"]);
});

test("a new member is no possible rename of a tombstone or of a member with @retired", () => {
  const before = schema([message("Entry", field("ttl", int32), field("a"))]);
  const gone = schema([message("Entry", field("a"))]);
  expect(problems(schema([message("Entry", field("a"), field("x", int32))]), before, gone)).toEqual([]);
  const retired = schema([message("Entry", field("ttl", int32, { retired: true }), field("a"), field("x", int32))]);
  expect(problems(retired, before)).toEqual([]);
  // Each removed member is reported once.
  const two = schema([message("Entry", field("a"), field("x", int32), field("y", int32))]);
  expect(problems(two, before).map((problem) => "added" in problem && problem.added)).toEqual(["x"]);
});
