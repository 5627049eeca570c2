/** The compiler finds the same breaks with the lock as `viceroy break` finds with the earlier schemas. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { findBreaks, rememberedSchema, type SchemaState } from "../../../compiler/evolve/index.js";
import { assignIds, type Lock } from "../../../compiler/lock/index.js";
import type { EnumValue, Field, Schema, Type, TypeDeclaration } from "../../../compiler/model/index.js";
import { lowerToProtobuf } from "../../../compiler/protobuf/lower/lower.js";
import { simpleName } from "../../../shared/names/qualified-name.js";
import { mutateSchema } from "../../evolution/mutate-schema.js";
import { cases } from "../../profile.js";
import { randomNumbers } from "../../random.js";
import { hasValues, randomSchema } from "../../wire/random-schema.js";

const lockFile = "viceroy.lock";

function sideOf(schema: Schema, lock: Lock): SchemaState {
  return { schema, lock, lockFile, lowered: lowerToProtobuf(schema, lock, { package: "p.v1", schemaRoot: "schemas" }) };
}

function wireBreaks(older: SchemaState, newer: SchemaState): readonly string[] {
  return findBreaks(older, newer)
    .filter((found) => found.class === "WIRE")
    .map(({ code, text }) => `${code} ${text}`);
}

/** Moves some types into a namespace, out of one, or to another. */
function withMoves(schema: Schema, random: () => number): Schema {
  const moves = ["A.B", "C", "D.E.F"].filter(() => random() < 0.2);
  const keys = new Map(
    moves.map((name) => {
      const namespace = ["", "Other.", "A."][Math.floor(random() * 3)];
      return [`schemas/a.ts#${name}`, `schemas/a.ts#${namespace}${simpleName(name)}`];
    }),
  );
  const modules = JSON.parse(JSON.stringify(schema.modules), (property, value: unknown) => {
    return property === "target" || property === "key" ? (keys.get(value as string) ?? value) : value;
  }) as Schema["modules"];
  const named = (type: TypeDeclaration) => ({ ...type, name: type.key.slice(type.key.indexOf("#") + 1) });
  return { ...schema, modules: modules.map((module) => ({ ...module, types: module.types.map(named) })) };
}

test("the comparison with the lock finds every wire break and no false ones", () => {
  const count = { silent: 0, spoken: 0 };
  const property = fc.property(randomSchema, fc.integer(), (plain, seed) => {
    const first = assignIds(plain);
    const random = randomNumbers(seed);
    const moves = random() < 0.5;
    const mutated = mutateSchema(plain, random);
    const changed = moves ? withMoves(mutated, random) : mutated;
    if (!hasValues(changed)) return;
    const second = assignIds(changed, first.lock);
    const newer = sideOf(second.schema, second.lock);
    const remembered = rememberedSchema(second.schema, first.lock, lockFile);
    const found = wireBreaks(sideOf(remembered, first.lock), newer);
    if (found.length > 0) count.spoken++;
    const real = wireBreaks(sideOf(first.schema, first.lock), newer);
    // The lock does not record everything about a type that moves: only `viceroy break` finds all of its breaks.
    if (!moves) expect(real.filter((text) => !found.includes(text))).toEqual([]);
    if (real.length > 0) return;
    count.silent++;
    expect(found).toEqual([]);
  });
  fc.assert(property, { numRuns: cases(200) });
  // Both outcomes must occur: changes without a break and changes with one.
  expect(count.silent).toBeGreaterThan(20);
  expect(count.spoken).toBeGreaterThan(20);
});

const at = { file: "schemas/a.ts", line: 1, column: 1 };
type Values = readonly (readonly [name: string, value: string | number])[];

/** `interface Entry { byKind: Map<Kind, string>; kind: Kind }` with an enum, whose absence means its value 0 if it has one. */
function withEnum(origin: "literals" | "enum", values: Values, isWhole = true): Schema {
  const list = values.map(([name, value], i): EnumValue => ({ name, value, id: i + 1, doc: "", at }));
  const kind: Type = { kind: "ref", target: "schemas/a.ts#Kind", args: [] };
  const text: Type = { kind: "scalar", scalar: "string" };
  const field = (name: string, type: Type): Field => {
    return { name, id: 1, type, optional: false, readonly: false, doc: "", tags: {}, at };
  };
  const fields = [field("byKind", { kind: "map", key: kind, value: text, readonly: false }), field("kind", kind)];
  const declare = (name: string, shape: TypeDeclaration["shape"]): TypeDeclaration => {
    return { key: `schemas/a.ts#${name}`, name, exported: true, doc: "", typeParameters: [], shape, at };
  };
  const types = [
    declare("Entry", { kind: "message", fields: isWhole ? fields : fields.slice(0, 1) }),
    declare("Kind", { kind: "enum", origin, values: list }),
  ];
  return { package: "p", modules: [{ path: "schemas/a.ts", types, actors: [], tasks: [] }] };
}

test.each<{ what: string; origin: "literals" | "enum"; before: Values; after: Values }>([
  {
    what: "numbers without 0 to which a string is added",
    origin: "literals",
    before: [
      ["1", 1],
      ["2", 2],
      ["4", 4],
    ],
    after: [
      ["4", 4],
      ["1", 1],
      ["added", "added"],
    ],
  },
  {
    what: "numbers with 0 to which a string is added",
    origin: "literals",
    before: [
      ["0", 0],
      ["2", 2],
      ["1", 1],
    ],
    after: [
      ["0", 0],
      ["added", "added"],
    ],
  },
  {
    what: "strings and numbers that become numbers with 0",
    origin: "literals",
    before: [
      ["2", 2],
      ["0", 0],
      ["a", "a"],
    ],
    after: [
      ["0", 0],
      ["1", 1],
    ],
  },
  {
    what: "strings that look like numbers and become numbers",
    origin: "literals",
    before: [
      ["1", "1"],
      ["2", "2"],
    ],
    after: [
      ["0", 0],
      ["1", "1"],
    ],
  },
  {
    what: "named numbers that lose their 0",
    origin: "enum",
    before: [
      ["None", 0],
      ["Some", 1],
      ["All", 2],
    ],
    after: [["Some", 1]],
  },
  {
    what: "named numbers that get a 0",
    origin: "enum",
    before: [
      ["Some", 1],
      ["All", 2],
    ],
    after: [
      ["None", 0],
      ["Some", 1],
    ],
  },
])("the comparison with the lock finds the breaks of an enum of $what", ({ origin, before, after }) => {
  for (const isWhole of [true, false]) {
    const first = assignIds(withEnum(origin, before));
    const second = assignIds(withEnum(origin, after, isWhole), first.lock);
    const newer = sideOf(second.schema, second.lock);
    const remembered = rememberedSchema(second.schema, first.lock, lockFile);
    const [found, real] = [remembered, first.schema].map((schema) => wireBreaks(sideOf(schema, first.lock), newer));
    expect(found?.toSorted()).toEqual(real?.toSorted());
  }
});
