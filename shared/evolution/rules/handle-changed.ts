/**
 * Reports ports and meshes that carry something else than before. Their own bytes do not contain the type of their
 * messages, so the field rules cannot compare it there.
 */
import type { FieldRule } from "../wire-rule.js";
import { describeTypeHarm } from "./field-type-changed.js";

export const handleChanged: FieldRule = {
  code: "VC5012",
  name: "handle-changed",
  fix: "Add a member, or an endpoint, with the new type, under another name.",
  compares: "field",
  find({ older: { carries: was }, newer: { carries: is } }, around) {
    if (was?.kind === "mesh" && is?.kind === "mesh" && was.actor !== is.actor) {
      return "its actors are others: calls reach an actor that does not know them";
    }
    if (was?.kind !== "port" || is?.kind !== "port") return undefined;
    const harm = describeTypeHarm({ older: was.type, newer: is.type }, around);
    return harm === undefined ? undefined : `what its port takes: ${harm}`;
  },
};
