/**
 * Checks that processes of two schemas understand each other when no wire rule reports a difference: each side reads
 * the values of the other, and writes them again without a loss, unknown fields included.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { assignIds } from "../../compiler/lock/index.js";
import { indexSchema, type Schema, type Type } from "../../compiler/model/index.js";
import { lowerToProtobuf } from "../../compiler/protobuf/lower/lower.js";
import type { LoweredSchema } from "../../compiler/protobuf/lower/lowered-schema.js";
import { findWireDifferences } from "../../shared/evolution/index.js";
import { cases } from "../profile.js";
import { randomNumbers } from "../random.js";
import { hasValues, randomSchema } from "../wire/random-schema.js";
import { RandomValues } from "../wire/random-values.js";
import { Codecs, canBeComposed } from "./codecs.js";
import { mutateSchema } from "./mutate-schema.js";
import { memberForm, stranger } from "./normal-form.js";

interface Side {
  readonly schema: Schema;
  readonly lowered: LoweredSchema;
  readonly codecs: Codecs;
}

function sideOf(schema: Schema, lock: ReturnType<typeof assignIds>["lock"]): Side {
  return {
    schema,
    lowered: lowerToProtobuf(schema, lock, { package: "p.v1", schemaRoot: "schemas" }),
    codecs: new Codecs(schema),
  };
}

/** Returns a description of the loss on the way from one side to the other and back, or undefined if there is none. */
function loss(writer: Side, reader: Side, type: Type, random: () => number): string | undefined {
  const index = indexSchema(writer.schema);
  const [write, read] = [writer.codecs.of(type), reader.codecs.of(type)];
  const values = new RandomValues(index, random);
  for (let i = 0; i < 8; i++) {
    const bytes = write.toProtobuf(values.value(type));
    const sent = i % 2 === 0 && isInterface(writer.schema, type) ? Buffer.concat([bytes, stranger]) : bytes;
    const before = write.fromProtobuf(sent);
    const shown = () => Buffer.from(sent).toString("hex");
    let back: unknown;
    try {
      back = write.fromProtobuf(read.toProtobuf(read.fromProtobuf(sent)));
    } catch (error) {
      return `${shown()} is refused: ${(error as Error).message}`;
    }
    const forms = [before, back].map((value) => memberForm(value, type, index));
    if (!isDeepStrictEqual(forms[0], forms[1])) return `${shown()} comes back as another value`;
  }
  return undefined;
}

/** Only interfaces keep unknown fields. Tuples, collections and unions drop them. */
function isInterface(schema: Schema, type: Type): boolean {
  return type.kind === "ref" && indexSchema(schema).type(type.target).shape.kind === "message";
}

test("the other side reads and writes a value without a loss when no wire rule reports a difference", () => {
  const count = { silent: 0, spoken: 0 };
  const property = fc.property(randomSchema, fc.integer(), (plain, seed) => {
    const random = randomNumbers(seed);
    const first = assignIds(plain);
    const changed = mutateSchema(plain, random);
    // Types that contain themselves without an end have no values, and the compiler refuses them.
    if (!hasValues(changed)) return;
    const second = assignIds(changed, first.lock);
    const [older, newer] = [sideOf(first.schema, first.lock), sideOf(second.schema, second.lock)];
    if (![older, newer].every(({ schema, codecs }) => canBeComposed(schema, codecs))) return;
    for (const { name, key, typeParameters } of plain.modules.flatMap(({ types }) => types)) {
      const [from, to] = [messageOf(older, name), messageOf(newer, name)];
      if (typeParameters.length > 0 || from === undefined || to === undefined) continue;
      const roots = { messages: [{ older: from, newer: to }], actors: [] };
      const found = findWireDifferences(older.lowered.schema, newer.lowered.schema, roots);
      // The bytes do not depend on which side is the older one.
      const turned = { messages: [{ older: to, newer: from }], actors: [] };
      expect(findWireDifferences(newer.lowered.schema, older.lowered.schema, turned).length > 0).toBe(found.length > 0);
      if (found.length > 0) {
        count.spoken++;
        continue;
      }
      const type: Type = { kind: "ref", target: key, args: [] };
      count.silent++;
      for (const [writer, reader] of [
        [older, newer],
        [newer, older],
      ] as const) {
        expect(loss(writer, reader, type, random), `${name} ${JSON.stringify([from, to])}`).toBeUndefined();
      }
    }
  });
  fc.assert(property, { numRuns: cases(300) });
  // The random schemas must contain enough pairs with differences and enough pairs without.
  expect(count.silent).toBeGreaterThan(50);
  expect(count.spoken).toBeGreaterThan(50);
});

function messageOf({ lowered }: Side, name: string): string | undefined {
  const found = lowered.schema.messages.get(`p.v1.${name}`);
  return found?.name;
}
