/** `@name`: what JSON and `.proto` files call a member that TypeScript calls the same as before. */
import { compareMembers } from "../../comparison.js";
import type { BreakRule } from "../../rule.js";

export const jsonNameChanged: BreakRule = {
  code: "VC5055",
  name: "json-name-changed",
  class: "BEHAVIOUR",
  find({ shapes }) {
    return shapes.flatMap((shape) =>
      compareMembers(shape).pairs.flatMap(({ older, newer }) => {
        if (older.name !== newer.name || older.wireName === newer.wireName) return [];
        const place = `${shape.place}.${newer.name}`;
        const name = older.wireName ?? older.name;
        const text = `${place} was ${name} in JSON and is ${newer.wireName ?? newer.name}: readers of JSON do not find it`;
        return [{ place, at: newer.at, side: "newer" as const, text, fix: `Write \`@name ${name}\` above it.` }];
      }),
    );
  },
};
