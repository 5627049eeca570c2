/**
 * Sends messages from process to process, of older and newer schemas in any order. Processes of the same schema use
 * lockstep where it can hold the message, and others use protobuf. The value must be unchanged at the end of the chain.
 */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { assignIds, type Lock } from "../../compiler/lock/index.js";
import { indexSchema, type Schema, type SchemaIndex, type Type } from "../../compiler/model/index.js";
import { lowerToProtobuf } from "../../compiler/protobuf/lower/lower.js";
import type { LoweredSchema } from "../../compiler/protobuf/lower/lowered-schema.js";
import { defaultLinkLimits } from "../../runtime/link/link-limits.js";
import { encodeMessage } from "../../runtime/link/outbound/encode-message.js";
import { type Codec, codec, unknownFields } from "../../runtime/wire/index.js";
import { protobufValue } from "../../runtime/wire/protobuf-messages.js";
import { Reader } from "../../runtime/wire/reader.js";
import { findWireDifferences } from "../../shared/evolution/index.js";
import { cases } from "../profile.js";
import { randomNumbers } from "../random.js";
import { hasValues, randomSchema } from "../wire/random-schema.js";
import { RandomValues } from "../wire/random-values.js";
import { Codecs, canBeComposed } from "./codecs.js";
import { mutateSchema } from "./mutate-schema.js";
import { memberForm, stranger } from "./normal-form.js";

interface Side {
  readonly index: SchemaIndex;
  readonly lowered: LoweredSchema;
  readonly codecs: Codecs;
}

function sideOf(schema: Schema, lock: Lock): Side {
  return {
    index: indexSchema(schema),
    lowered: lowerToProtobuf(schema, lock, { package: "p.v1", schemaRoot: "schemas" }),
    codecs: new Codecs(schema),
  };
}

interface Hop {
  readonly value: unknown;
  readonly layout: "lockstep" | "protobuf";
}

/** One process sends a value as an answer, another one reads it. */
function hop(value: unknown, from: Codec<unknown>, to: Codec<unknown>): Hop {
  const message = { label: "a value", codec: from, protobuf: protobufValue(from) };
  const { bytes, blocks, isProtobuf: protobuf } = encodeMessage(message, value, defaultLinkLimits, from !== to);
  const r = new Reader();
  r.reset(
    bytes,
    new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    0,
    bytes.length,
    blocks.length === 0 ? undefined : [...blocks],
  );
  const read = protobuf ? protobufValue(to) : to;
  return { value: read.decodeFrom(r), layout: protobuf ? "protobuf" : "lockstep" };
}

test("a value comes back unchanged from any chain of older and newer processes", () => {
  const count = { lockstep: 0, protobuf: 0, unlike: 0 };
  const property = fc.property(randomSchema, fc.integer(), (plain, seed) => {
    const random = randomNumbers(seed);
    const [first, changed] = [assignIds(plain), mutateSchema(plain, random)];
    if (!hasValues(changed)) return;
    const second = assignIds(changed, first.lock);
    const sides = [sideOf(first.schema, first.lock), sideOf(second.schema, second.lock)] as const;
    if (!canBeComposed(first.schema, sides[0].codecs) || !canBeComposed(second.schema, sides[1].codecs)) return;
    for (const { name, key, typeParameters } of plain.modules.flatMap(({ types }) => types)) {
      const messages = sides.map(({ lowered }) => lowered.schema.messages.get(`p.v1.${name}`)?.name);
      const [older, newer] = messages;
      if (typeParameters.length > 0 || older === undefined || newer === undefined) continue;
      const [a, b] = [sides[0].lowered.schema, sides[1].lowered.schema];
      if (findWireDifferences(a, b, { messages: [{ older, newer }], actors: [] }).length > 0) continue;
      const type: Type = { kind: "ref", target: key, args: [] };
      const codecs = sides.map((side) => side.codecs.of(type));
      for (let i = 0; i < 4; i++) {
        const path = Array.from({ length: 5 }, () => Number(random() < 0.5));
        const start = path[0] as number;
        const [own, index] = [codecs[start] as Codec<unknown>, (sides[start] as Side).index];
        const sent = new RandomValues(index, random).value(type);
        if (i % 2 === 0 && isInterface(index, type))
          (sent as { [unknownFields]?: Uint8Array })[unknownFields] = stranger;
        let value = own.fromProtobuf(own.toProtobuf(sent));
        const before = memberForm(value, type, index);
        let at = start;
        for (const next of [...path.slice(1), start]) {
          const done = hop(value, codecs[at] as Codec<unknown>, codecs[next] as Codec<unknown>);
          value = done.value;
          if (at === next) count[done.layout]++;
          else count.unlike++;
          at = next;
        }
        const after = memberForm(value, type, index);
        expect(isDeepStrictEqual(after, before), `${name} by ${path.join(" ")}`).toBe(true);
      }
    }
  });
  fc.assert(property, { numRuns: cases(300) });
  // Processes of one schema have used both layouts: lockstep as a rule, and protobuf for messages with unknown fields.
  for (const hops of Object.values(count)) expect(hops).toBeGreaterThan(100);
});

/** Only interfaces keep unknown fields. Tuples, collections and unions drop them. */
function isInterface(index: SchemaIndex, type: Type): boolean {
  return type.kind === "ref" && index.type(type.target).shape.kind === "message";
}

const inner = codec.object("Inner", { a: codec.int32 }) as Codec<unknown>;
const other = codec.object("Other", { a: codec.int32, more: codec.string }) as Codec<unknown>;
const newerInner = other.fromProtobuf(other.toProtobuf({ a: 1, more: "new" }));
const known = inner.fromProtobuf(inner.toProtobuf({ a: 1 }));
const kept = inner.fromProtobuf(other.toProtobuf(newerInner));

test.each([
  ["a list", codec.array(inner), (one: unknown) => [known, one]],
  ["a set", codec.set(inner), (one: unknown) => new Set([known, one])],
  ["a record", codec.record(inner), (one: unknown) => ({ a: known, b: one })],
  ["keys of a map", codec.map(inner, codec.int32), (one: unknown) => new Map([[one, 1]])],
  ["values of a map", codec.map(codec.int32, inner), (one: unknown) => new Map([[1, one]])],
  ["a tuple", codec.tuple(codec.int32, inner), (one: unknown) => [1, one]],
  [
    "the rest of a tuple",
    codec.tupleWithRest([codec.int32 as Codec<unknown>], inner),
    (one: unknown) => [1, known, one],
  ],
  ["a nullable value", codec.nullable(inner), (one: unknown) => one],
  ["a member", codec.object("Outer", { toString: codec.optional(inner) }), (one: unknown) => ({ toString: one })],
  ["a case", codec.oneof("Case", () => ({ a: inner, b: codec.int32 })), (one: unknown) => ({ case: "a", value: one })],
  [
    "a variant",
    codec.union("Union", "kind", () => ({ a: codec.object("A", { inner }), b: inner })),
    (one: unknown) => ({ kind: "a", inner: one }),
  ],
  [
    "the variant itself",
    codec.union("Union", "kind", () => ({ b: inner })),
    (one: unknown) => ({ kind: "b", ...(one as object) }),
  ],
] as const)("unknown fields of a message in %s are kept, because the sender uses protobuf", (_name, outer, wrap) => {
  const whole = outer as unknown as Codec<unknown>;
  const done = hop(wrap(kept), whole, whole);
  expect(done.layout).toBe("protobuf");
  expect(done.value).toEqual(wrap(kept));
  // Messages without unknown fields still use lockstep.
  expect(hop(wrap(known), whole, whole)).toEqual({ value: wrap(known), layout: "lockstep" });
});

test("encoding refuses a value of another type and a value that contains itself", () => {
  const list = codec.object("List", () => ({
    next: codec.optional(list),
    more: codec.optional(list),
  })) as Codec<unknown>;
  const endless: { next?: unknown; more?: unknown } = {};
  endless.next = endless;
  endless.more = endless;
  expect(() => hop(endless, list, list)).toThrow(/^cannot encode List\.next\.next.*: nested deeper than 256$/);
  expect(() => hop({ a: "x" }, inner, inner)).toThrow(
    /^cannot encode Inner\.a: invalid int32: expected an integer from -2147483648 to 2147483647, got "x"$/,
  );
});
