/**
 * Reports lists that begin or cease to drop duplicates. Sets drop them, and so do maps that are lists of entries on the
 * wire.
 */
import type { ProtoField } from "../../protobuf/proto-schema.js";
import type { FieldRule } from "../wire-rule.js";

export const duplicatesDropped: FieldRule = {
  code: "VC5011",
  name: "duplicates-dropped",
  fix: "Add a member with the other type, under another name.",
  compares: "field",
  find({ older, newer }) {
    if (older.unique === newer.unique) return undefined;
    return `it was ${kindOf(older)} and is ${kindOf(newer)}: one side drops what the other may send twice`;
  },
};

function kindOf({ unique }: ProtoField): string {
  if (unique === undefined) return "a list";
  return unique === "value" ? "a set" : "a list of entries with a key each";
}
