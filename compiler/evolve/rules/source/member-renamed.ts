/**
 * Reports members, endpoints and actors with the same id and another name. The bytes stay the same, but code and JSON
 * change.
 */

import type { Pair } from "../../../../shared/evolution/pair.js";
import { jsonName } from "../../../../shared/protobuf/names.js";
import type { BreakFinding, BreakRule } from "../../break-rule.js";
import { compareMembers, type StateComparison } from "../../comparison.js";
import { externalNames } from "../../external-names.js";
import type { ShapePair } from "../../pair-shapes.js";
import type { ShapeMember } from "../../shape-members.js";

export const memberRenamed: BreakRule = {
  code: "VC5034",
  name: "member-renamed",
  class: "SOURCE",
  find(comparison) {
    return [
      ...comparison.shapes.flatMap((shape) =>
        compareMembers(shape).pairs.flatMap((pair) =>
          renamed(pair, `${shape.place}.`).map((found) => ({ ...found, ...fixOf(comparison, shape, pair) })),
        ),
      ),
      ...comparison.endpoints.flatMap((pair) => renamed(pair, `${pair.actor.name}.`)),
      ...comparison.actors.flatMap((pair) => renamed(pair, "")),
    ];
  },
};

function renamed({ older, newer }: Pair<Pick<ShapeMember, "name" | "at">>, owner: string): readonly BreakFinding[] {
  if (older.name === newer.name) return [];
  const text = `${owner}${older.name} is called ${newer.name} now: code that uses it does not compile`;
  return [{ place: `${owner}${newer.name}`, at: newer.at, side: "newer", text }];
}

/** Returns a fix if `@name` or `@json` can keep the JSON name. */
function fixOf(comparison: StateComparison, shape: ShapePair, pair: Pair<ShapeMember>): Pick<BreakFinding, "fix"> {
  const names = externalNames(comparison, shape, pair);
  if (names === undefined || names.older.json === names.newer.json) return {};
  const { proto, json } = names.older;
  const isPlain = shape.newer.kind === "enum" || json === jsonName(proto);
  const tag = isPlain ? `@name ${proto}` : `@json ${json}`;
  return { fix: `Write \`${tag}\` above ${pair.newer.name}, so that JSON keeps the name, and change the code.` };
}
