/** Reports generic types that take another number of type arguments. */
import type { BreakRule } from "../../break-rule.js";

export const typeParametersChanged: BreakRule = {
  code: "VC5033",
  name: "type-parameters-changed",
  class: "SOURCE",
  find({ types }) {
    return types
      .filter(({ older, newer }) => older.typeParameters.length !== newer.typeParameters.length)
      .map(({ older, newer: { name, at, typeParameters } }) => ({
        place: name,
        at,
        side: "newer",
        text: `${name} took ${counted(older.typeParameters.length)} and takes ${typeParameters.length}: code that names it does not compile`,
      }));
  },
};

function counted(count: number): string {
  return count === 1 ? "1 type argument" : `${count || "no"} type arguments`;
}
