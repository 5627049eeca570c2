/** The JSON of any value of any schema is read back as the same value, also from text. */
import assert from "node:assert";
import fc from "fast-check";
import { expect, test } from "vitest";
import { indexSchema } from "../../../compiler/model/resolve.js";
import { flatName } from "../../../shared/names/qualified-name.js";
import { randomNumbers } from "../../random.js";
import { loadGenerated } from "../load-generated.js";
import { randomSchema } from "../random-schema.js";
import { RandomValues } from "../random-values.js";

const schemas = Number(process.env["VICEROY_SCHEMAS"] ?? 60);

/** Times within the years that RFC 3339 allows, in milliseconds since 1970. */
const dates = [0, -1, 1.7e12, -62135596800000, 253402300799999];

test("toJson writes valid JSON, and fromJson reads it back as the same value", async () => {
  const property = fc.asyncProperty(randomSchema, fc.integer(), async (schema, seed) => {
    const codecs = await loadGenerated(schema);
    const values = new RandomValues(indexSchema(schema), randomNumbers(seed), dates);
    for (const { name, key } of schema.modules.flatMap(({ types }) => types)) {
      const codec = codecs.get(`${flatName(name)}Codec`);
      if (codec === undefined) continue;
      for (let i = 0; i < 10; i++) {
        const value = values.value({ kind: "ref", target: key, args: [] });
        const json = codec.toJson(value);
        expect(isJson(json)).toBe(true);
        assert.deepStrictEqual(codec.fromJson(json), value);
        assert.deepStrictEqual(codec.shape().fromJson(codec.shape().toJson(value)), value);
        const parsed: unknown = JSON.parse(JSON.stringify(json));
        // JSON text has no -0, so this comparison is not strict.
        assert.deepEqual(codec.fromJson(parsed), value);
      }
    }
  });
  await fc.assert(property, { numRuns: schemas, endOnFailure: process.env["VICEROY_SHRINK"] === undefined });
});

/** Values that `JSON.stringify` writes unchanged. */
function isJson(value: unknown): boolean {
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      if (value === null) return true;
      if (Array.isArray(value)) return value.every(isJson);
      return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
    default:
      return false;
  }
}
