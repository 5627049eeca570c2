/** Members, endpoints and actors with the same id and another name: the bytes are the same, code and JSON are not. */
import { jsonName } from "../../../../schemas/protobuf/names.js";
import { type Comparison, compareMembers, type Pair } from "../../comparison.js";
import { outsideNames } from "../../json-names.js";
import type { Member } from "../../members.js";
import type { BreakRule, Finding } from "../../rule.js";
import type { ShapePair } from "../../shapes.js";

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

function renamed({ older, newer }: Pair<Pick<Member, "name" | "at">>, owner: string): readonly Finding[] {
  if (older.name === newer.name) return [];
  const text = `${owner}${older.name} is called ${newer.name} now: code that uses it does not compile`;
  return [{ place: `${owner}${newer.name}`, at: newer.at, side: "newer", text }];
}

/** Where `@name` can keep the name that JSON has. */
function fixOf(comparison: Comparison, shape: ShapePair, pair: Pair<Member>): Pick<Finding, "fix"> {
  const names = outsideNames(comparison, shape, pair);
  if (names === undefined || names.older.json === names.newer.json) return {};
  const { proto, json } = names.older;
  const isPlain = shape.newer.kind === "enum" || json === jsonName(proto);
  const tag = isPlain ? `@name ${proto}` : `@json ${json}`;
  return { fix: `Write \`${tag}\` above ${pair.newer.name}, so that JSON keeps the name, and change the code.` };
}
