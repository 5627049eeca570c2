/** Members that are removed or added never move the members that remain. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type CapnpStruct, qualifiedPath } from "../../../../compiler/capnp/capnp-schema.js";
import { lowerToCapnp } from "../../../../compiler/capnp/lower.js";
import { assignIds, type Lock, parseLock, printLock } from "../../../../compiler/lock/index.js";
import type { Schema } from "../../../../compiler/model/index.js";
import { arbitrarySchema } from "../arbitrary-schema.js";
import { compileCase } from "./compile.js";

/** Returns the places of all present members, by struct and name. */
function placesOf(schema: Schema, lock: Lock, before?: Lock): ReadonlyMap<string, string> {
  const { files, diagnostics } = lowerToCapnp({ schema, lock, previousLock: before, schemaRoot: "schemas" });
  const told = diagnostics.filter(({ code }) => code !== "VC4030");
  // If the type of a removed member is removed too or is ambiguous, a diagnostic says so, and no file is written.
  if (before !== undefined && told.length > 0 && told.every(({ code }) => ["VC4032", "VC4033"].includes(code)))
    return new Map();
  expect(told).toEqual([]);
  const places = new Map<string, string>();
  const visit = (struct: CapnpStruct): void => {
    struct.members.forEach(({ property: source, type }, i) => {
      const place = struct.layout.slots[i] as CapnpStruct["layout"]["slots"][0];
      const { ordinal, at, tag } = place;
      const name = `${struct.file.path} ${qualifiedPath(struct).join(".")} ${source}`;
      if (source !== undefined) places.set(name, `@${ordinal} at ${at} tag ${tag}, ${type.kind}`);
    });
    for (const nested of struct.nested) if (nested.kind === "struct") visit(nested);
  };
  for (const type of files.flatMap(({ types }) => types)) if (type.kind === "struct") visit(type);
  return places;
}

/** Removes the members for which `keep`, called for each in turn, returns false. */
function without(schema: Schema, keep: () => boolean): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if ("kind" in value && value.kind === "message" && "fields" in value) {
      return { ...value, fields: (value.fields as unknown[]).filter(keep) };
    }
    if ("kind" in value && value.kind === "oneof" && "cases" in value) {
      const cases = (value.cases as unknown[]).filter((_case, i) => i === 0 || keep());
      return { ...value, cases };
    }
    return value;
  }) as Schema;
}

test("members keep their places when other members are removed", () => {
  let compared = 0;
  fc.assert(
    fc.property(arbitrarySchema, fc.infiniteStream(fc.boolean()), (random, choices) => {
      const first = assignIds(named(random));
      const lock = parsed(first.lock);
      const second = assignIds(
        without(named(random), () => choices.next().value as boolean),
        lock,
      );
      const before = placesOf(first.schema, first.lock);
      for (const [name, place] of placesOf(second.schema, second.lock, lock)) {
        // Types with made-up names lose their numbers when similar types are removed.
        if (!before.has(name) || /\d \S+$/.test(name)) continue;
        expect(place, name).toBe(before.get(name));
        compared++;
      }
    }),
    { numRuns: 200, endOnFailure: true },
  );
  expect(compared).toBeGreaterThan(200);
});

/** Names the values of enums of numbers after their numbers, as the compiler reads them. */
function named(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) => {
    if (typeof value !== "object" || value === null || !("origin" in value) || !("values" in value)) return value;
    const values = value.values as readonly { readonly value: unknown }[];
    if (value.origin !== "literals" || values.some((entry) => typeof entry.value !== "number")) return value;
    return { ...value, values: values.map((entry) => ({ ...entry, name: String(entry.value) })) };
  }) as Schema;
}

function parsed(lock: Lock): Lock {
  const { lock: read, problems } = parseLock("viceroy.lock", printLock(lock));
  expect(problems).toEqual([]);
  return read;
}

test("the values of an inline enum of numbers are named after their numbers", () => {
  const { lock } = compileCase("kinds");
  const block = lock.blocks.find(({ name }) => name === "Everything.level");
  expect(block?.entries.map(({ id, name }) => [id, name])).toEqual([
    [1, "1"],
    [2, "2"],
    [3, "3"],
  ]);
});
