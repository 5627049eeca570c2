/**
 * Reports members whose protobuf layout is compatible but whose Cap'n Proto layout is not. In Cap'n Proto, the slot of
 * a member depends on its type, on whether it may be null or absent, and on all members before it. The rule applies if
 * both states emit `"capnp"`.
 */
import { flatName } from "../../../../shared/names/qualified-name.js";
import type { BreakFinding, BreakRule } from "../../break-rule.js";
import { rootStruct, structChanges } from "../../capnp-changes.js";
import { membersOf } from "../../shape-members.js";

export const capnpChanged: BreakRule = {
  code: "VC5020",
  name: "capnp-changed",
  class: "WIRE",
  find({ states: sides, types }) {
    const [before, after] = [sides.older.capnp, sides.newer.capnp];
    if (before === undefined || after === undefined) return [];
    const seen = new Map();
    return types.flatMap(({ older, newer }): readonly BreakFinding[] => {
      const was = rootStruct(before, older.at.file, flatName(older.name));
      const is = rootStruct(after, newer.at.file, flatName(newer.name));
      if (was === undefined || is === undefined) return [];
      return structChanges(newer.name, { older: was, newer: is }, seen).map((change) => {
        const at = membersOf(newer.shape).find(({ name }) => name === change.member)?.at ?? newer.at;
        const text = `${change.place}: in Cap'n Proto it was ${change.was} and is ${change.is}: readers take the one for the other, and what stands behind it has moved`;
        return { place: change.place, at, side: "newer", text, fix: "Leave it as it was, and add a new member." };
      });
    });
  },
};
