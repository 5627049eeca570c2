/**
 * Generated codecs do the same as composed codecs, byte for byte: on random schemas, with valid and invalid random values,
 * and with bytes that no codec wrote.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Schema } from "../../compiler/model/index.js";
import { indexSchema } from "../../compiler/model/resolve.js";
import { type Codec, CodecError, type GeneratedCodec } from "../../runtime/wire/index.js";
import { flatName } from "../../shared/names/qualified-name.js";
import { randomNumbers } from "../random.js";
import { loadGenerated } from "./load-generated.js";
import { mutate } from "./mutate.js";
import { randomSchema } from "./random-schema.js";
import { RandomValues } from "./random-values.js";
import { spoil } from "./spoil-value.js";

const schemas = Number(process.env["VICEROY_SCHEMAS"] ?? 60);

interface Subject {
  readonly name: string;
  readonly generated: GeneratedCodec<unknown>;
  readonly composed: Codec<unknown>;
  /** Another random value of the type. */
  value(): unknown;
}

async function subjects(schema: Schema, random: () => number): Promise<readonly Subject[]> {
  const codecs = await loadGenerated(schema);
  const values = new RandomValues(indexSchema(schema), random);
  return schema.modules.flatMap(({ types }) =>
    types.flatMap(({ name, key }): Subject[] => {
      const generated = codecs.get(`${flatName(name)}Codec`);
      if (generated === undefined) return [];
      const type = { kind: "ref", target: key, args: [] } as const;
      return [{ name, generated, composed: generated.shape(), value: () => values.value(type) }];
    }),
  );
}

function forSchemas(check: (subject: Subject, random: () => number) => void): Promise<void> {
  const seed = fc.integer();
  const property = fc.asyncProperty(randomSchema, seed, async (schema, seed) => {
    const random = randomNumbers(seed);
    for (const subject of await subjects(schema, random)) check(subject, random);
  });
  return fc.assert(property, { numRuns: schemas, endOnFailure: process.env["VICEROY_SHRINK"] === undefined });
}

test("a generated codec has the same layout as the composed codec", async () => {
  await forSchemas(({ generated, composed }) => {
    const layout = ({ slot, text, bulk }: Codec<unknown>) => ({ slot, text, bulk });
    expect(layout(generated)).toEqual(layout(composed));
  });
});

test("generated and composed codecs encode a value to the same bytes and decode it again", async () => {
  await forSchemas(({ generated, composed, value }) => {
    for (let i = 0; i < 10; i++) {
      const original = value();
      const bytes = generated.encode(original);
      expect(composed.encode(original)).toEqual(bytes);
      assert.deepStrictEqual(generated.decode(bytes), original);
      assert.deepStrictEqual(composed.decode(bytes), original);
      assert.deepStrictEqual(generated.decode(bytes, { views: true }), original);
    }
  });
});

test("generated and composed codecs give the same result or the same error for mutated bytes", async () => {
  await forSchemas(({ generated, composed, value }, random) => {
    for (let i = 0; i < 40; i++) {
      const bytes = mutate(generated.encode(value()), random);
      const [one, other] = [
        outcome(generated, () => generated.decode(bytes)),
        outcome(composed, () => composed.decode(bytes)),
      ];
      assert.deepStrictEqual(one, other);
    }
  });
});

test("generated and composed codecs give the same result or the same error for spoiled values", async () => {
  await forSchemas(({ generated, composed, value }, random) => {
    for (let i = 0; i < 20; i++) {
      const wrong = spoil(value(), random);
      const [one, other] = [
        outcome(generated, () => generated.encode(wrong)),
        outcome(composed, () => composed.encode(wrong)),
      ];
      assert.deepStrictEqual(one, other);
    }
  });
});

/** The result, or the text of the error without the name of what was encoded. */
function outcome({ name }: Codec<unknown>, run: () => unknown): unknown {
  try {
    return { result: run() };
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    return { reason: (error as CodecError).reason, path: (error as CodecError).path.slice(name.length) };
  }
}
