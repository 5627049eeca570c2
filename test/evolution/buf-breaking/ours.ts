/** What our rules find, by the same units. */
import { findWireDifferences } from "../../../shared/evolution/index.js";
import type { WireDifference } from "../../../shared/evolution/wire-difference.js";
import type { ProtoField, ProtoMessage, ProtoSchema } from "../../../shared/protobuf/proto-schema.js";
import type { Finding } from "./finding.js";
import type { ProtoPair } from "./pair.js";

export function ourFindings({ older, newer }: ProtoPair): readonly Finding[] {
  return findWireDifferences(older.schema, newer.schema).flatMap((difference) =>
    unitsOf(difference, older.schema, newer.schema).map((unit) => ({ by: "viceroy", rule: difference.code, unit })),
  );
}

function unitsOf({ place }: WireDifference, older: ProtoSchema, newer: ProtoSchema): readonly string[] {
  if ([older, newer].some(({ messages, services }) => messages.has(place) || services.has(place))) return [place];
  const dot = place.lastIndexOf(".");
  const [owner, member] = [place.slice(0, dot), place.slice(dot + 1)];
  const value = newer.enums.get(owner)?.values.find(({ name }) => name === member);
  if (value !== undefined) return [`${owner}#${value.number}`];
  const messages = [newer.messages.get(owner), older.messages.get(owner)].filter((one) => one !== undefined);
  if (messages.length === 0) return [place];
  // The newer side's name is meant, where both have it.
  const fields = messages.map((message) => message.fields.filter(({ name }) => name === member));
  const meant = fields.find((list) => list.length > 0) ?? casesOf(messages, member);
  return meant.length === 0 ? [owner] : [...new Set(meant.map(({ number }) => `${owner}#${number}`))];
}

/**
 * Of a `oneof` the cases that both sides know and that were in none, or are, or in another one; where there are none, all
 * that it has or had.
 */
function casesOf(messages: readonly ProtoMessage[], oneof: string): readonly ProtoField[] {
  const cases = messages.flatMap(({ fields }) => fields.filter((field) => field.oneof === oneof));
  const moved = cases.filter(({ number }) => {
    const same = messages.flatMap(({ fields }) => fields.filter((field) => field.number === number));
    return same.length === 2 && same[0]?.oneof !== same[1]?.oneof;
  });
  return moved.length === 0 ? cases : moved;
}
