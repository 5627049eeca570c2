/**
 * What JSON and `.proto` files call a member that TypeScript calls the same as before: `@name` says it, and for values of an
 * enum that is written in place the name of the member that has them too.
 */
import { compareMembers } from "../../comparison.js";
import { outsideNames } from "../../json-names.js";
import type { BreakRule, Finding } from "../../rule.js";

export const jsonNameChanged: BreakRule = {
  code: "VC5055",
  name: "json-name-changed",
  class: "BEHAVIOUR",
  find(comparison) {
    return comparison.shapes.flatMap((shape) =>
      compareMembers(shape).pairs.flatMap((pair): Finding[] => {
        if (pair.older.name !== pair.newer.name) return [];
        const names = outsideNames(comparison, shape, pair);
        if (names === undefined || names.older.proto === names.newer.proto) return [];
        const { older, newer } = names;
        const place = `${shape.place}.${pair.newer.name}`;
        const text =
          older.json === newer.json
            ? `${place} was ${older.proto} in .proto files and is ${newer.proto}: code in other languages that uses it does not compile`
            : `${place} was ${older.json} in JSON and is ${newer.json}: readers of JSON do not find it`;
        const canBeNamed = shape.newer.kind !== "enum" || shape.newer.origin === "enum";
        const fix = canBeNamed && { fix: `Write \`@name ${older.proto}\` above it.` };
        return [{ place, at: pair.newer.at, side: "newer", text, ...fix }];
      }),
    );
  },
};
