/** On random schemas: values survive a round trip, merge correctly, and pass through a schema without their fields. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Schema } from "../../../compiler/model/index.js";
import { indexSchema } from "../../../compiler/model/resolve.js";
import { type Codec, CodecError, codec } from "../../../runtime/wire/index.js";
import { flatName } from "../../../shared/names/qualified-name.js";
import { cases } from "../../profile.js";
import { randomNumbers } from "../../random.js";
import { loadGenerated } from "../load-generated.js";
import { mutate } from "../mutate.js";
import { randomSchema } from "../random-schema.js";
import { RandomValues } from "../random-values.js";

interface Subject {
  readonly generated: Codec<unknown>;
  readonly composed: Codec<unknown>;
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
    for (const subject of await subjects(schema, random)) check(subject, random);
  });
  return fc.assert(property, { numRuns: cases(40) });
}

test("values of random schemas survive a round trip, with the same bytes from both kinds of codec", async () => {
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

test("a schema without fields keeps all fields as unknown fields", async () => {
  const blind = codec.object("Blind", {});
  await forSchemas(({ generated, value }) => {
    const bytes = generated.toProtobuf(value());
    assert.deepStrictEqual(blind.toProtobuf(blind.fromProtobuf(bytes)), bytes);
  });
});

test("generated and composed codecs give the same result or the same error for mutated bytes", async () => {
  await forSchemas(({ generated, composed, value }, random) => {
    for (let i = 0; i < 20; i++) {
      const bytes = mutate(generated.toProtobuf(value()), random);
      const both = [generated, composed].map((one) => outcome(one, bytes));
      assert.deepStrictEqual(both[0], both[1]);
      const read = both[0];
      if (!("value" in read!)) continue;
      // A value that was read can be written and read again.
      const again = generated.toProtobuf(read.value);
      assert.deepStrictEqual(generated.fromProtobuf(again), read.value);
      // Compared as values, since the processor can turn a signalling NaN into a quiet one.
      assert.deepStrictEqual(generated.fromProtobuf(composed.toProtobuf(read.value)), read.value);
    }
  });
});

test("generated and composed codecs merge a message in two parts alike", async () => {
  await forSchemas(({ generated, composed, value }) => {
    const wrapped = (inner: Codec<unknown>) => codec.object("Wrapped", { inner: codec.oneof("", () => ({ inner })) });
    for (let i = 0; i < 5; i++) {
      const parts = [value(), value()].map((inner) =>
        wrapped(generated).toProtobuf({ inner: { case: "inner", value: inner } }),
      );
      const both = Buffer.concat(parts);
      const outcomes = [generated, composed].map((one) => outcome(wrapped(one), both));
      assert.deepStrictEqual(outcomes[0], outcomes[1]);
      // Seconds of one date and milliseconds of another may be no date.
      assert.ok("value" in outcomes[0]! || outcomes[0]!.reason.startsWith("invalid date"));
    }
  });
});

type Outcome = { readonly value: unknown } | { readonly place: string; readonly reason: string };

function outcome(codec: Codec<unknown>, bytes: Uint8Array): Outcome {
  try {
    return { value: codec.fromProtobuf(bytes) };
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    return { place: error.path.slice(codec.name.length), reason: error.reason };
  }
}
