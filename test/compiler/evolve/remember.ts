/** What a lock remembers of the schemas as they were, beside the schemas as they are. */
import { expect } from "vitest";
import { rememberedSchema } from "../../../compiler/evolve/index.js";
import type { Schema, TypeDeclaration } from "../../../compiler/model/index.js";
import { type SchemaTexts, type StateOptions, statesOf } from "./states.js";

/** The schema that the lock of `older` remembers beside the schemas of `newer`, and the two. */
export function remember(older: SchemaTexts, newer: SchemaTexts, options?: StateOptions) {
  const states = statesOf(older, newer, options);
  const { schema } = states.newer;
  return {
    was: states.older.schema,
    is: schema,
    remembered: rememberedSchema(schema, states.older.lock, "viceroy.lock"),
  };
}

/** What the lock does not say: where things stand, what is said about them, and names that are TypeScript's alone. */
export const unsaid = new Set([
  "at",
  "doc",
  "readonly",
  "exported",
  "discriminant",
  "origin",
  "options",
  "package",
  "tags",
  "idempotent",
]);

/** The declarations of a schema by their keys, without what the lock does not say. */
export function said(schema: Schema): Readonly<Record<string, unknown>> {
  const plain = JSON.parse(
    JSON.stringify(schema, (key, value) => (unsaid.has(key) ? undefined : (value as unknown))),
  ) as Schema;
  return Object.fromEntries(
    plain.modules.flatMap(({ types, actors, tasks }) => [...types, ...actors, ...tasks].map((one) => [one.key, one])),
  );
}

export function expectRemembered(older: SchemaTexts, newer: SchemaTexts, options?: StateOptions): void {
  const { was, remembered } = remember(older, newer, options);
  const now = said(remembered);
  for (const [key, one] of Object.entries(said(was))) expect(now[key]).toEqual(one);
}

export const shape = (schema: Schema, name: string) => {
  const found = schema.modules.flatMap(({ types }) => types).find((type) => type.name === name);
  return (found as TypeDeclaration).shape;
};
