/**
 * Reports fields that change between one value, a list and a map. A reader of one value keeps only the last element of
 * a list, or finds none if the list is packed. An optional value and a value with a default are equal on the wire.
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
