/** Reports endpoints that get a shorter deadline, or a deadline where they had none. Calls fail earlier. */
import type { BreakRule } from "../../break-rule.js";

export const timeoutLowered: BreakRule = {
  code: "VC5051",
  name: "timeout-lowered",
  class: "BEHAVIOUR",
  find({ endpoints }) {
    return endpoints.flatMap(({ older, newer, actor }) => {
      const was = older.options.timeout;
      const is = newer.options.timeout;
      if (is === undefined || (was !== undefined && was <= is)) return [];
      const before = was === undefined ? "no deadline" : `a deadline of ${was} ms`;
      const place = `${actor.name}.${newer.name}`;
      const text = `${place} had ${before} and has one of ${is} ms: calls that take longer fail`;
      return [{ place, at: newer.at, side: "newer" as const, text }];
    });
  },
};
