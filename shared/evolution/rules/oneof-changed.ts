/**
 * Reports fields that begin or cease to exclude each other, because they were put into one `oneof` or taken out of it.
 * One side may then send both fields, and the other side keeps only the last.
 */
import type { ProtoField, ProtoMessage } from "../../protobuf/proto-schema.js";
import { joinNames } from "../describe-field.js";
import type { MessageRule } from "../wire-rule.js";

export const oneofChanged: MessageRule = {
  code: "VC5006",
  name: "oneof-changed",
  fix: "Leave these members as they were, and add a `Oneof` of new ones.",
  compares: "message",
  find({ older, newer }) {
    const joined = splitOneofs(newer, older).map(([oneof, fields]) => ({
      place: `${newer.name}.${oneof}`,
      text: `${joinNames(fields)} could be set together and exclude each other now: of messages with both one is lost`,
    }));
    const parted = splitOneofs(older, newer).map(([oneof, fields]) => ({
      place: `${newer.name}.${oneof}`,
      text: `${joinNames(fields)} excluded each other and can be set together now: of messages with both one is lost`,
    }));
    return [...joined, ...parted.filter(({ place }) => joined.every((other) => other.place !== place))];
  },
};

/**
 * Returns the `oneof`s of `message` whose cases are not in one `oneof` in `other`, each with the names of the cases
 * that `other` knows.
 */
function splitOneofs(message: ProtoMessage, other: ProtoMessage): readonly (readonly [string, readonly string[]])[] {
  const known = new Map(other.fields.map((field) => [field.number, field]));
  return oneofsOf(message).flatMap(([oneof, cases]): [string, readonly string[]][] => {
    const common = cases.filter(({ number }) => known.has(number));
    const there = new Set(common.map(({ number }) => known.get(number)?.oneof));
    const together = common.length < 2 || (there.size === 1 && !there.has(undefined));
    return together ? [] : [[oneof, common.map(({ name }) => name)]];
  });
}

export function oneofsOf({ fields }: ProtoMessage): readonly (readonly [string, readonly ProtoField[]])[] {
  const cases = new Map<string, ProtoField[]>();
  for (const field of fields) {
    if (field.oneof === undefined) continue;
    const known = cases.get(field.oneof);
    if (known === undefined) cases.set(field.oneof, [field]);
    else known.push(field);
  }
  return [...cases];
}
