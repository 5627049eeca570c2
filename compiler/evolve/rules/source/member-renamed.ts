/** Members, endpoints and actors with the same id and another name: the bytes are the same, code and JSON are not. */
import type { Pair } from "../../comparison.js";
import { compareMembers } from "../../comparison.js";
import type { BreakRule, Finding } from "../../rule.js";

export const memberRenamed: BreakRule = {
  code: "VC5034",
  name: "member-renamed",
  class: "SOURCE",
  find(comparison) {
    return [
      ...comparison.shapes.flatMap((shape) =>
        compareMembers(shape).pairs.flatMap((pair) => renamed(pair, `${shape.place}.`, shape.older.kind !== "union")),
      ),
      ...comparison.endpoints.flatMap((pair) => renamed(pair, `${pair.actor.name}.`, false)),
      ...comparison.actors.flatMap((pair) => renamed(pair, "", false)),
    ];
  },
};

type Named = { readonly name: string; readonly at: Finding["at"]; readonly wireName?: string };

function renamed({ older, newer }: Pair<Named>, owner: string, hasWireName: boolean): readonly Finding[] {
  if (older.name === newer.name) return [];
  const keeps = !hasWireName || newer.wireName !== undefined;
  return [
    {
      place: `${owner}${newer.name}`,
      at: newer.at,
      side: "newer",
      text: `${owner}${older.name} is called ${newer.name} now: code that uses it does not compile`,
      ...(!keeps && {
        fix: `Write \`@name ${older.wireName ?? older.name}\` above ${newer.name}, so that JSON keeps the name, and change the code.`,
      }),
    },
  ];
}
