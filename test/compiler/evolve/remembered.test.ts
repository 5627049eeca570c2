/** What the compiler reports of a lock is a real change: it warns of nothing that `viceroy break` would not find either. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { findBreaks, rememberedSchema, type Side } from "../../../compiler/evolve/index.js";
import { assignIds, type Lock } from "../../../compiler/lock/index.js";
import type { Schema, TypeDeclaration } from "../../../compiler/model/index.js";
import { lower } from "../../../compiler/protobuf/lower.js";
import { simpleName } from "../../../schemas/names/qualified.js";
import { mutateSchema } from "../../evolution/mutate-schema.js";
import { cases } from "../../profile.js";
import { randomNumbers } from "../../random.js";
import { hasValues, randomSchema } from "../../wire/random-schema.js";

const lockFile = "viceroy.lock";

function sideOf(schema: Schema, lock: Lock): Side {
  return { schema, lock, lockFile, lowered: lower(schema, lock, { package: "p.v1", schemaRoot: "schemas" }) };
}

function wireBreaks(older: Side, newer: Side): readonly string[] {
  return findBreaks(older, newer)
    .filter((found) => found.class === "WIRE")
    .map(({ code, text }) => `${code} ${text}`);
}

/** Some types move into a namespace, out of one, or to another. */
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

test("a lock knows of no break where there is none", () => {
  const count = { silent: 0, spoken: 0 };
  const property = fc.property(randomSchema, fc.integer(), (plain, seed) => {
    const first = assignIds(plain);
    const random = randomNumbers(seed);
    const changed = withMoves(mutateSchema(plain, random), random);
    if (!hasValues(changed)) return;
    const second = assignIds(changed, first.lock);
    const newer = sideOf(second.schema, second.lock);
    const remembered = rememberedSchema(second.schema, first.lock, lockFile);
    const found = wireBreaks(sideOf(remembered, first.lock), newer);
    if (found.length > 0) count.spoken++;
    if (wireBreaks(sideOf(first.schema, first.lock), newer).length > 0) return;
    count.silent++;
    expect(found).toEqual([]);
  });
  fc.assert(property, { numRuns: cases(200) });
  // Neither all nor none: both answers have been given.
  expect(count.silent).toBeGreaterThan(20);
  expect(count.spoken).toBeGreaterThan(20);
});
