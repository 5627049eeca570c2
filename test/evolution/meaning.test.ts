/**
 * Checks that values mean the same to both sides, in bytes and in JSON, when `viceroy break` reports nothing about
 * them. Also checks that a rename according to the documentation is not reported in the class WIRE.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Break, findBreaks, type SchemaState } from "../../compiler/evolve/index.js";
import { assignIds, type Lock, parseLock, printLock } from "../../compiler/lock/index.js";
import { indexSchema, type Schema, type Type } from "../../compiler/model/index.js";
import { lowerToProtobuf } from "../../compiler/protobuf/lower/lower.js";
import { type Codec, codec } from "../../runtime/wire/index.js";
import { Composer } from "../compiler/emit/compose.js";
import { cases } from "../profile.js";
import { randomNumbers } from "../random.js";
import { RandomValues } from "../wire/random-values.js";
import { garden, tend } from "./garden.js";
import { type Meant, misunderstood } from "./meaning.js";

const holder: Type = { kind: "ref", target: "schemas/a.ts#Holder", args: [] };

interface Tended extends SchemaState {
  readonly codec: Codec<unknown>;
  /** The codec of the arguments of `plant`. */
  readonly args: Codec<unknown>;
}

/** @returns undefined if the compiler refuses the schema, as it does if a type is renamed together with its members */
function sideOf(plain: Schema, before?: Lock): Tended | undefined {
  const { schema, lock, problems } = assignIds(plain, before);
  if (problems.some(({ kind }) => kind !== "ambiguousRename")) return undefined;
  const lowered = lowerToProtobuf(schema, lock, { package: "p.v1", schemaRoot: "schemas" });
  const params = schema.modules[0]?.actors[0]?.endpoints[0]?.params ?? [];
  const parameters = Object.fromEntries(params.map(({ name }) => [name, codec.int32]));
  return {
    ...{ schema, lock: parseLock("viceroy.lock", printLock(lock)).lock, lockFile: "viceroy.lock", lowered },
    codec: new Composer(indexSchema(schema), lowered.enumNames).type(holder),
    args: codec.parameters("plant", parameters, { numbers: params.map(({ id }) => id) }) as Codec<unknown>,
  };
}

/** Returns the breaking changes that concern the meaning of a message. */
function said(breaks: readonly Break[]): readonly Break[] {
  return breaks.filter(({ code, class: of }) => of === "WIRE" || of === "BEHAVIOUR" || code === "VC5072");
}

function harm(writer: Tended, reader: Tended, random: () => number, isJson: boolean): string | undefined {
  const [from, to] = [indexSchema(writer.schema), indexSchema(reader.schema)];
  const values = new RandomValues(from, random);
  for (let i = 0; i < 4; i++) {
    const value = values.value(holder);
    const got = isJson
      ? reader.codec.fromJson(writer.codec.toJson(value), { ignoreUnknownFields: true })
      : reader.codec.fromProtobuf(writer.codec.toProtobuf(value));
    const wrong = misunderstood(meant(value, from), meant(got, to));
    if (wrong !== undefined) return wrong;
  }
  const [args, got] = [[3, 5], reader.args.fromJson(writer.args.toJson([3, 5]), { ignoreUnknownFields: true })];
  return isJson && JSON.stringify(args) !== JSON.stringify(got) ? `the arguments ${args} are ${got}` : undefined;
}

function meant(value: unknown, index: Meant["index"]): Meant {
  return { value, type: holder, index };
}

/** @param check checks a property of two states, the newer of which is a changed copy of the older one */
function ofGardens(documented: boolean, check: (older: Tended, newer: Tended, random: () => number) => void): void {
  const property = fc.property(fc.integer(), (seed) => {
    const random = randomNumbers(seed);
    const plain = garden(random);
    const older = sideOf(plain);
    const newer = sideOf(tend(plain, random, documented), older?.lock);
    if (older !== undefined && newer !== undefined) check(older, newer, random);
  });
  fc.assert(property, { numRuns: cases(400) });
}

test("values mean the same to both sides when `viceroy break` reports no change of their meaning", () => {
  const count = { silent: 0, spoken: 0 };
  ofGardens(false, (older, newer, random) => {
    const found = findBreaks(older, newer);
    if (said(found).length > 0) {
      count.spoken++;
      return;
    }
    count.silent++;
    // A renamed member has another name in JSON, which the class SOURCE reports.
    const isSameInJson = found.every(({ class: of }) => of === "DANGEROUS");
    for (const isJson of isSameInJson ? [false, true] : [false]) {
      expect(harm(older, newer, random, isJson)).toBeUndefined();
      expect(harm(newer, older, random, isJson)).toBeUndefined();
    }
  });
  expect(count.silent).toBeGreaterThan(20);
  expect(count.spoken).toBeGreaterThan(20);
});

test("a rename that states the former name is not a breaking change of the class WIRE", () => {
  ofGardens(true, (older, newer) => {
    const wire = findBreaks(older, newer).filter(({ class: of }) => of === "WIRE");
    expect(wire).toEqual([]);
  });
});
