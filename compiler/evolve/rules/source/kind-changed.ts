/**
 * Reports declarations that changed their kind, as from an interface to an enum or from a union to an alias. Their
 * members cannot be compared.
 */
import type { Shape } from "../../../model/index.js";
import type { BreakRule } from "../../break-rule.js";

export const kindChanged: BreakRule = {
  code: "VC5032",
  name: "kind-changed",
  class: "SOURCE",
  find({ types }) {
    return types
      .filter(({ older, newer }) => older.shape.kind !== newer.shape.kind)
      .map(({ older, newer }) => ({
        place: newer.name,
        at: newer.at,
        side: "newer",
        text: `${newer.name} was ${words[older.shape.kind]} and is ${words[newer.shape.kind]}: code that uses it does not compile`,
      }));
  },
};

const words: Readonly<Record<Shape["kind"], string>> = {
  message: "an interface",
  oneof: "a Oneof",
  union: "a union of objects",
  enum: "an enumeration",
  alias: "an alias",
};
