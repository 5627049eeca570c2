/**
 * Generated codecs for the protobuf layout do the same as composed codecs, byte for byte: on random schemas with any ids,
 * with valid and invalid random values, and with fields in any order and of any kind.
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
import { mutateFields } from "./mutate-fields.js";
import { withRandomIds } from "./random-ids.js";
import { randomSchema } from "./random-schema.js";
import { RandomValues } from "./random-values.js";
import { spoil } from "./spoil-value.js";

const schemas = Number(process.env["VICEROY_SCHEMAS"] ?? 60);

interface Subject {
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
      return [{ generated, composed: generated.shape(), value: () => values.value(type) }];
    }),
  );
}

function forSchemas(check: (subject: Subject, random: () => number) => void): Promise<void> {
  const property = fc.asyncProperty(randomSchema, fc.integer(), async (schema, seed) => {
    const random = randomNumbers(seed);
    for (const subject of await subjects(withRandomIds(schema, random), random)) check(subject, random);
  });
  return fc.assert(property, { numRuns: schemas, endOnFailure: process.env["VICEROY_SHRINK"] === undefined });
}

test("generated and composed codecs write the same protobuf bytes and read them back", async () => {
  await forSchemas(({ generated, composed, value }) => {
    for (let i = 0; i < 10; i++) {
      const original = value();
      const bytes = generated.toProtobuf(original);
      expect(composed.toProtobuf(original)).toEqual(bytes);
      assert.deepStrictEqual(generated.fromProtobuf(bytes), original);
      assert.deepStrictEqual(composed.fromProtobuf(bytes), original);
    }
  });
});

test("both kinds of codec read and rewrite reordered, duplicate, split and unknown fields alike", async () => {
  let accepted = 0;
  await forSchemas(({ generated, composed, value }, random) => {
    for (let i = 0; i < 30; i++) {
      const bytes = mutateFields(generated.toProtobuf(value()), random);
      const read = outcome(generated, () => generated.fromProtobuf(bytes));
      assert.deepStrictEqual(
        read,
        outcome(composed, () => composed.fromProtobuf(bytes)),
      );
      if (!("result" in read)) continue;
      accepted++;
      const again = outcome(generated, () => generated.toProtobuf(read.result));
      assert.deepStrictEqual(
        again,
        outcome(composed, () => composed.toProtobuf(read.result)),
      );
    }
  });
  expect(accepted).toBeGreaterThan(schemas);
});

test("generated and composed codecs give the same result or the same error for mutated bytes", async () => {
  await forSchemas(({ generated, composed, value }, random) => {
    for (let i = 0; i < 40; i++) {
      const bytes = mutate(generated.toProtobuf(value()), random);
      const [one, other] = [
        outcome(generated, () => generated.fromProtobuf(bytes)),
        outcome(composed, () => composed.fromProtobuf(bytes)),
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
        outcome(generated, () => generated.toProtobuf(wrong)),
        outcome(composed, () => composed.toProtobuf(wrong)),
      ];
      assert.deepStrictEqual(one, other);
    }
  });
});

type Outcome = { readonly result: unknown } | { readonly reason: string; readonly path: string };

/** The result, or the text of the error without the name of what was encoded. */
function outcome({ name }: Codec<unknown>, run: () => unknown): Outcome {
  try {
    return { result: run() };
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    return { reason: (error as CodecError).reason, path: (error as CodecError).path.slice(name.length) };
  }
}
