/** Reports endpoints that combine the answers of many actors differently than before. */
import type { BreakRule } from "../../break-rule.js";

export const reduceChanged: BreakRule = {
  code: "VC5053",
  name: "reduce-changed",
  class: "BEHAVIOUR",
  find({ endpoints }) {
    return endpoints.flatMap(({ older, newer, actor }) => {
      const was = older.options.reduce;
      const is = newer.options.reduce;
      if (was === is || was === undefined) return [];
      const place = `${actor.name}.${newer.name}`;
      const now = is === undefined ? "is not reduced any more" : `is reduced by ${is}`;
      const text = `${place} was reduced by ${was} and ${now}: the same call gives another answer`;
      return [{ place, at: newer.at, side: "newer" as const, text }];
    });
  },
};
