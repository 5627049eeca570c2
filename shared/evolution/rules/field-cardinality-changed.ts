/**
 * How often a field comes: a list read as one value loses all but its last, or is not found at all where it is packed. One
 * value that may be absent and one that has a default are the same on the wire.
 */
import type { Cardinality } from "../../protobuf/proto-schema.js";
import { describeField } from "../describe-field.js";
import type { FieldRule } from "../wire-rule.js";

export const fieldCardinalityChanged: FieldRule = {
  code: "VC5002",
  name: "field-cardinality-changed",
  fix: "Add a member for the list, under another name, and keep this one until nobody sends it.",
  compares: "field",
  find({ older, newer }) {
    const before = countOf(older.cardinality);
    const after = countOf(newer.cardinality);
    if (before === after) return undefined;
    const harm =
      before === "map" || after === "map"
        ? "entries with equal keys, or values that are no entries, are lost"
        : "all values of the list but one are lost";
    return `it was ${describeField(older)} and is ${describeField(newer)}: ${harm}`;
  },
};

function countOf(cardinality: Cardinality): "one" | "list" | "map" {
  if (cardinality === "repeated") return "list";
  return cardinality === "map" ? "map" : "one";
}
