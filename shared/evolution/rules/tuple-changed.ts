/**
 * Reports fields that only one side of a tuple, a union or a message for a collection knows. These messages do not keep
 * unknown fields, so the other side loses them. A new variant of a union is allowed, because it is sent instead of the
 * known ones.
 */
import type { ProtoMessage } from "../../protobuf/proto-schema.js";
import { joinNames } from "../describe-field.js";
import type { MessageRule } from "../wire-rule.js";

export const tupleChanged: MessageRule = {
  code: "VC5008",
  name: "tuple-changed",
  fix: "Use an interface instead: it keeps what it does not know. Add it as a new member.",
  compares: "message",
  find({ older, newer }) {
    const added = lost(newer, older);
    const removed = lost(older, newer);
    const place = newer.name;
    return [
      ...(added.length === 0
        ? []
        : [{ place, text: `readers of the older schema drop ${joinNames(added)}, which is new` }]),
      ...(removed.length === 0 ? [] : [{ place, text: `it drops ${joinNames(removed)}, which the older schema has` }]),
    ];
  },
};

/** Returns the names of the fields that `writer` may send and `reader` drops. */
function lost(writer: ProtoMessage, reader: ProtoMessage): readonly string[] {
  if (reader.standsFor === undefined || reader.standsFor === "oneof") return [];
  const known = new Set(reader.fields.map(({ number }) => number));
  const common = writer.fields.filter(({ number }) => known.has(number));
  const comesInstead = (oneof: string | undefined) =>
    reader.standsFor === "union" && common.every((field) => oneof !== undefined && field.oneof === oneof);
  return writer.fields
    .filter(({ number, oneof }) => !known.has(number) && !comesInstead(oneof))
    .map(({ name }) => name);
}
