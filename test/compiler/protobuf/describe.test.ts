/**
 * What the runtime says of codecs is what the compiler lowers the schema to: all that decides about the wire, and the names
 * of members. Names of messages are compared where the schema gives them.
 */
import { expect, test } from "vitest";
import { describeCodecs } from "../../../runtime/wire/protobuf/describe.js";
import type { ProtoField, ProtoSchema, ProtoType } from "../../../schemas/protobuf/descriptor.js";
import { cases } from "../../profile.js";
import { randomCodecs } from "../emit/random-codecs.js";

/** A type in both schemas. */
interface Pair {
  readonly described: ProtoType;
  readonly lowered: ProtoType;
  readonly place: string;
}

/** All that can be reached from two messages, field by field. */
function compare(described: ProtoSchema, lowered: ProtoSchema, root: Pair): number {
  const waiting = [root];
  const seen = new Set<string>();
  for (const { described: one, lowered: other, place } of waiting) {
    expect(one.kind, place).toBe(other.kind);
    if (one.kind === "scalar" || other.kind === "scalar") {
      expect(one, place).toEqual(other);
      continue;
    }
    const key = `${one.name} ${other.name}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (one.name.startsWith("google.protobuf.")) {
      expect(one, place).toEqual(other);
    } else if (one.kind === "enum") {
      const numbers = (schema: ProtoSchema, name: string) => schema.enums.get(name)?.values.map(({ number }) => number);
      expect(numbers(described, one.name)?.toSorted(), place).toEqual(numbers(lowered, other.name)?.toSorted());
    } else {
      const mine = described.messages.get(one.name);
      const theirs = lowered.messages.get(other.name);
      expect(mine?.demandedOneofs, place).toEqual(theirs?.demandedOneofs);
      expect(mine?.fields.map(withoutType), place).toEqual(theirs?.fields.map(withoutType));
      for (const [i, field] of (mine?.fields ?? []).entries()) {
        const type = theirs?.fields[i]?.type as ProtoType;
        waiting.push({ described: field.type, lowered: type, place: `${place}.${field.name}` });
      }
    }
  }
  return seen.size;
}

function withoutType({ type: _, unique, bits, carries, ...field }: ProtoField): Partial<ProtoField> {
  return field;
}

test("codecs of random schemas are described as the schema is lowered", () => {
  let count = 0;
  for (const { lowered, codecs } of randomCodecs(cases(150), 31, 0)) {
    for (const { codec, message } of codecs) {
      const described = describeCodecs([codec]);
      const [root = ""] = described.messages.keys();
      const pair = { described: { kind: "message", name: root }, lowered: { kind: "message", name: message } } as const;
      count += compare(described, lowered.schema, { ...pair, place: message });
    }
  }
  expect(count).toBeGreaterThan(cases(150) * 5);
});
