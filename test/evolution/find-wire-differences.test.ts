import { describe, expect, test } from "vitest";
import { findWireDifferences, oneWayRules, wireRules } from "../../shared/evolution/index.js";
import type { ProtoField, ProtoMessage, ProtoScalar, ProtoSchema } from "../../shared/protobuf/proto-schema.js";
import { enumeration, field, message, schema, service } from "./schema.js";

/** The differences as `code place: text`. */
function differences(older: ProtoSchema, newer: ProtoSchema): readonly string[] {
  return findWireDifferences(older, newer).map(({ code, place, text }) => `${code} ${place}: ${text}`);
}

function between(older: readonly ProtoField[], newer: readonly ProtoField[], more?: Pairs): readonly string[] {
  return differences(schema(message("a.M", older, more?.older)), schema(message("a.M", newer, more?.newer)));
}

interface Pairs {
  readonly older?: Partial<ProtoMessage>;
  readonly newer?: Partial<ProtoMessage>;
}

const scalars: readonly ProtoScalar[] = [
  "double",
  "float",
  "int32",
  "uint32",
  "sint32",
  "fixed32",
  "sfixed32",
  "int64",
  "uint64",
  "sint64",
  "fixed64",
  "sfixed64",
  "bool",
  "string",
  "bytes",
];

describe("fields", () => {
  test("a change from any scalar type to another one is a difference", () => {
    for (const before of scalars) {
      for (const after of scalars) {
        const found = between([field("x", 1, before)], [field("x", 1, after)]);
        expect(found).toHaveLength(before === after ? 0 : 1);
      }
    }
  });

  test("the text of a type change says what happens to the values", () => {
    expect(between([field("x", 1, "int64")], [field("x", 1, "int32")])).toEqual([
      "VC5001 a.M.x: its type was int64 and is int32: numbers that need more than 32 bits are cut",
    ]);
    expect(between([field("x", 1, "string")], [field("y", 1, "double")])).toEqual([
      "VC5001 a.M.y: its type was string and is double: neither side finds the other's value, which has another wire type",
    ]);
    expect(between([field("x", 1, "uint32")], [field("x", 1, "int32")])).toEqual([
      "VC5001 a.M.x: its type was uint32 and is int32: negative numbers read as large ones, or the other way round",
    ]);
  });

  test("changes between enum and int32, between presences, and added or removed fields are no differences", () => {
    const older = schema(
      message("a.M", [field("x", 1, "enum:a.E"), field("y", 2, "string")]),
      enumeration("a.E", { A: 0 }),
    );
    const newer = schema(
      message("a.M", [
        field("z", 1, "int32"),
        field("y", 2, "string", { cardinality: "explicit" }),
        field("w", 3, "bool"),
      ]),
    );
    expect(differences(older, newer)).toEqual([]);
    expect(differences(newer, older)).toEqual([]);
  });

  test("a change between a value, a list and a map, or of the key type of a map, is a difference", () => {
    const one = [field("x", 1, "int32")];
    const many = [field("x", 1, "int32", { cardinality: "repeated" })];
    const map = [field("x", 1, "int32", { cardinality: "map", key: "string" })];
    expect(between(one, many)).toEqual([
      "VC5002 a.M.x: it was int32 and is repeated int32: all values of the list but one are lost",
    ]);
    expect(between(map, many)).toEqual([
      "VC5002 a.M.x: it was map<string, int32> and is repeated int32: entries with equal keys, or values that are no entries, are lost",
    ]);
    expect(between(map, [field("x", 1, "int32", { cardinality: "map", key: "int32" })])).toEqual([
      "VC5003 a.M.x: its keys were string and are int32: entries get other keys, or are lost",
    ]);
  });

  test("a change between list and set, or of the bits of elements, is a difference", () => {
    const list = field("x", 1, "sint32", { cardinality: "repeated" });
    expect(between([list], [{ ...list, unique: "value" }])).toEqual([
      "VC5011 a.M.x: it was a list and is a set: one side drops what the other may send twice",
    ]);
    expect(between([{ ...list, bits: 8 }], [list])).toEqual([
      "VC5010 a.M.x: its elements had 8 bits and have all bits of their type: numbers that need more are not kept",
    ]);
  });

  test("a change of the precision of timestamps is a difference", () => {
    const time = field("at", 1, "message:google.protobuf.Timestamp");
    expect(between([{ ...time, millis: true }], [time])).toEqual([
      "VC5010 a.M.at: it kept milliseconds and keeps nanoseconds: the nanoseconds of the one side are lost on the other",
    ]);
  });

  test("a field that becomes or ceases to be required, and an added or removed required field, is a difference", () => {
    const required = field("kind", 2, "enum:a.E", { demanded: true });
    const added = ["VC5004 a.M.kind: it is required now: messages of the older schema without it are refused"];
    expect(between([], [required])).toEqual(added);
    expect(between([{ ...required, demanded: false }], [required])).toEqual(added);
    expect(between([required], [])).toEqual([
      "VC5005 a.M.kind: it has gone: readers of the older schema refuse messages without it",
    ]);
    expect(between([required], [{ ...required, name: "sort", demanded: false }])).toEqual([
      "VC5005 a.M.sort: it is no longer required: readers of the older schema refuse messages without it",
    ]);
    expect(between([required], [required])).toEqual([]);
  });

  test("a message field that becomes required is a difference only if its default is refused", () => {
    const holder = (always: boolean, inside: ProtoField) =>
      schema(
        message("a.M", [field("in", 1, "message:a.In", { always })]),
        message("a.In", [field("deep", 1, "message:a.Deep", { always: true })]),
        message("a.Deep", [inside]),
      );
    const plain = field("x", 1, "int32");
    expect(differences(holder(false, plain), holder(true, plain))).toEqual([]);
    const demanding = field("kind", 1, "enum:a.E", { demanded: true });
    expect(differences(holder(false, demanding), holder(true, demanding))).toEqual([
      "VC5004 a.M.in: it is required now: messages of the older schema without it are refused",
    ]);
    expect(differences(holder(true, demanding), holder(true, demanding))).toEqual([]);
  });
});

describe("oneofs and tuples", () => {
  const free = [field("a", 1, "string"), field("b", 2, "string")];
  const both = [field("a", 1, "string", { oneof: "x" }), field("b", 2, "string", { oneof: "x" })];

  test("two fields that begin or cease to exclude each other are a difference", () => {
    expect(between(free, both)).toEqual([
      "VC5006 a.M.x: a and b could be set together and exclude each other now: of messages with both one is lost",
    ]);
    expect(between(both, free)).toEqual([
      "VC5006 a.M.x: a and b excluded each other and can be set together now: of messages with both one is lost",
    ]);
    expect(between([field("a", 1, "string")], both)).toEqual([]);
    expect(between(both, [...both, field("c", 3, "string", { oneof: "x" })])).toEqual([]);
  });

  test("an added or removed variant of a union is no difference, and a change of its required state is one", () => {
    const union = { demandedOneofs: ["x"], standsFor: "union" } as const;
    const more = [...both, field("c", 3, "string", { oneof: "x" })];
    expect(between(both, more, { older: union, newer: union })).toEqual([]);
    expect(between(more, both, { older: union, newer: union })).toEqual([]);
    expect(between(both, both, { newer: union })).toEqual([
      "VC5007 a.M.x: messages of the older schema with none of its cases are refused",
    ]);
    expect(between(both, both, { older: union })).toEqual([
      "VC5007 a.M.x: readers of the older schema refuse messages with none of its cases",
    ]);
  });

  test("an added or removed case of a required oneof among other fields is no difference", () => {
    const union = { demandedOneofs: ["x"] };
    const older = [...both, field("id", 9, "string")];
    const newer = [...older, field("c", 3, "string", { oneof: "x" })];
    expect(between(older, newer, { older: union, newer: union })).toEqual([]);
    expect(between(newer, older, { older: union, newer: union })).toEqual([]);
  });

  test("a field that is added beside a union is a difference, because unions drop it; a Oneof keeps it", () => {
    const older = { demandedOneofs: ["x"], standsFor: "union" } as const;
    const newer = [...both, field("note", 9, "string")];
    const beside = { demandedOneofs: ["x"] };
    expect(between(both, newer, { older, newer: beside })).toEqual([
      "VC5008 a.M: readers of the older schema drop note, which is new",
    ]);
    expect(between(both, newer, { older: { ...older, standsFor: "oneof" }, newer: beside })).toEqual([]);
  });

  test("an added or removed element of a tuple is a difference, because tuples drop unknown fields", () => {
    const closed = { standsFor: "tuple" } as const;
    expect(between([free[0]!], free, { older: closed, newer: closed })).toEqual([
      "VC5008 a.M: readers of the older schema drop b, which is new",
    ]);
    expect(between(free, [free[0]!], { older: closed, newer: closed })).toEqual([
      "VC5008 a.M: it drops b, which the older schema has",
    ]);
    expect(between(free, [free[0]!])).toEqual([]);
  });
});

describe("types with different names", () => {
  const holder = (type: string) => message("a.Holder", [field("held", 1, type)]);

  test("types with different names are compared by their contents", () => {
    const older = schema(holder("message:a.A"), message("a.A", [field("x", 1, "int32")]), message("a.B", []));
    const newer = schema(holder("message:a.B"), message("a.A", [field("x", 1, "int32")]), message("a.B", []));
    expect(differences(older, newer)).toEqual([]);
    const other = schema(holder("message:a.B"), message("a.A", []), message("a.B", [field("x", 1, "string")]));
    expect(
      findWireDifferences(older, other, { messages: [{ older: "a.Holder", newer: "a.Holder" }], actors: [] }),
    ).toEqual([
      {
        code: "VC5001",
        rule: "field-type-changed",
        place: "a.Holder.held",
        text:
          "its type was message a.A and is message a.B: a.B.x: its type was int32 and is string: " +
          "neither side finds the other's value, which has another wire type",
      },
    ]);
  });

  test("recursive types with different names are compared by their contents", () => {
    const node = (name: string, type: string) =>
      message(name, [field("next", 1, `message:${name}`), field("value", 2, type)]);
    const older = schema(holder("message:a.A"), node("a.A", "int32"), node("a.B", "int32"));
    expect(differences(older, schema(holder("message:a.B"), node("a.A", "int32"), node("a.B", "int32")))).toEqual([]);
    expect(differences(older, schema(holder("message:a.C"), node("a.C", "bool")))).toEqual([
      "VC5001 a.C.value: its type was int32 and is bool: numbers read as true",
    ]);
  });

  test("well-known types are compared by their names", () => {
    const date = schema(holder("message:google.protobuf.Timestamp"));
    expect(differences(date, date)).toEqual([]);
    expect(differences(date, schema(holder("message:google.protobuf.Duration")))).toEqual([
      "VC5001 a.Holder.held: its type was message google.protobuf.Timestamp and is message google.protobuf.Duration: these are different messages",
    ]);
    expect(differences(date, schema(holder("message:a.Mine"), message("a.Mine", [])))).toHaveLength(1);
  });
});

test("an enum value that takes the number of another value is a difference, and a new value is not", () => {
  const holder = message("a.M", [field("x", 1, "enum:a.Color")]);
  const older = schema(holder, enumeration("a.Color", { COLOR_RED: 0, COLOR_GREEN: 1 }));
  expect(
    differences(older, schema(holder, enumeration("a.Color", { COLOR_BLUE: 0, COLOR_RED: 1, COLOR_GREEN: 2 }))),
  ).toEqual([
    "VC5009 a.Color.COLOR_BLUE: its number 0 was that of RED: each reads as the other",
    "VC5009 a.Color.COLOR_RED: its number 1 was that of GREEN: each reads as the other",
  ]);
  // A renamed value keeps its number, and a new value is a plain number to the other side.
  expect(
    differences(older, schema(holder, enumeration("a.Color", { COLOR_ROT: 0, COLOR_GREEN: 1, COLOR_BLUE: 2 }))),
  ).toEqual([]);
  const renamed = message("a.M", [field("x", 1, "enum:a.Colour")]);
  expect(differences(older, schema(renamed, enumeration("a.Colour", { COLOUR_RED: 0, COLOUR_GREEN: 1 })))).toEqual([]);
});

describe("handles", () => {
  const holder = (handle: string, carries?: ProtoField["carries"]) =>
    message("a.Holder", [field("held", 1, `message:viceroy.handle.v1.${handle}`, carries && { carries })]);
  const handles = ["Port", "Mesh"].map((name) => message(`viceroy.handle.v1.${name}`, [field("state", 1, "bytes")]));
  const port = (type: string) =>
    schema(
      holder("Port", { kind: "port", type: { kind: "message", name: "a.Item" } }),
      ...handles,
      message("a.Item", [field("value", 1, type)]),
    );

  test("a change of the type that a port carries is a difference", () => {
    expect(differences(port("int32"), port("int32"))).toEqual([]);
    const older = findWireDifferences(port("int32"), port("string"), {
      messages: [{ older: "a.Holder", newer: "a.Holder" }],
      actors: [],
    });
    expect(older.map(({ code, place }) => `${code} ${place}`)).toEqual(["VC5001 a.Item.value"]);
    const scalar = schema(holder("Port", { kind: "port", type: { kind: "scalar", scalar: "string" } }), ...handles);
    expect(differences(port("int32"), scalar)).toEqual([
      "VC5012 a.Holder.held: what its port takes: its type was message a.Item and is string: what is no such message, or no UTF-8, is refused",
    ]);
  });

  test("a handle of a mesh of another actor, or a port instead of a mesh, is a difference", () => {
    const mesh = (actor: number) => schema(holder("Mesh", { kind: "mesh", actor }), ...handles);
    expect(differences(mesh(1), mesh(2))).toEqual([
      "VC5012 a.Holder.held: its actors are others: calls reach an actor that does not know them",
    ]);
    expect(differences(mesh(1), mesh(1))).toEqual([]);
    expect(differences(mesh(1), port("int32"))).toEqual([
      "VC5001 a.Holder.held: its type was message viceroy.handle.v1.Mesh and is message viceroy.handle.v1.Port: these are different messages",
    ]);
  });
});

describe("actors", () => {
  const empty = message("a.Empty", []);
  const older = schema(
    empty,
    service("a.Counter", 7, { get: [1, "a.Empty", "a.Empty"], add: [2, "a.Empty", "a.Empty"] }),
  );

  test("a removed actor or endpoint is a difference, and an added one is not", () => {
    const newer = schema(empty, service("a.Counter", 7, { add: [2, "a.Empty", "a.Empty"] }));
    expect(differences(older, newer)).toEqual([
      "VC5015 a.Counter.get: the endpoint has gone: calls of the older schema are refused",
    ]);
    expect(differences(newer, older)).toEqual([]);
    expect(differences(older, schema(empty))).toEqual([
      "VC5013 a.Counter: the actor has gone: calls of the older schema are refused",
    ]);
    expect(differences(schema(empty), older)).toEqual([]);
    expect([...oneWayRules]).toEqual(["VC5013", "VC5015"]);
  });

  test("a changed id of an actor or endpoint, or a changed stream mode, is a difference", () => {
    const methods = { get: [1, "a.Empty", "a.Empty"], add: [2, "a.Empty", "a.Empty"] } as const;
    expect(differences(older, schema(empty, service("a.Counter", 8, methods)))).toEqual([
      "VC5014 a.Counter: its id was 0x00000007 and is 0x00000008: neither side knows the other's actor",
    ]);
    expect(differences(older, schema(empty, service("a.Renamed", 7, methods)))).toEqual([]);
    expect(
      differences(older, schema(empty, service("a.Counter", 7, { ...methods, get: [3, "a.Empty", "a.Empty"] }))),
    ).toEqual(["VC5016 a.Counter.get: its id was 1 and is 3: calls of the older schema are refused"]);
    const stream = { ...methods, get: [1, "a.Empty", "a.Empty", "stream"] } as const;
    expect(differences(older, schema(empty, service("a.Counter", 7, stream)))).toEqual([
      "VC5017 a.Counter.get: it gave one answer and gives a stream: callers wait for the other",
    ]);
  });

  test("arguments of endpoints are compared by endpoint id, even when their messages have different names", () => {
    const call = (request: string, type: string) =>
      schema(
        empty,
        message(request, [field("by", 1, type)]),
        service("a.Counter", 7, { add: [2, request, "a.Empty"] }),
      );
    expect(differences(call("a.AddRequest", "int32"), call("a.PlusRequest", "string"))).toEqual([
      "VC5001 a.PlusRequest.by: its type was int32 and is string: neither side finds the other's value, which has another wire type",
    ]);
    expect(differences(call("a.AddRequest", "int32"), call("a.PlusRequest", "int32"))).toEqual([]);
  });

  test("only the requested messages and actors are compared", () => {
    const newer = schema(message("a.Empty", [field("kind", 1, "string", { demanded: true })]));
    expect(findWireDifferences(older, newer, { messages: [], actors: [] })).toEqual([]);
  });
});

test("every rule has a unique code and a unique name", () => {
  for (const key of ["code", "name"] as const) {
    const all = wireRules.map((rule) => rule[key]);
    expect(new Set(all).size).toBe(all.length);
  }
});
