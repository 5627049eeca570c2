/**
 * Reports endpoints that begin or cease to run concurrently with other messages of their actor. The actor and its
 * callers may rely on either.
 */
import type { BreakRule } from "../../break-rule.js";

export const concurrencyChanged: BreakRule = {
  code: "VC5052",
  name: "concurrency-changed",
  class: "BEHAVIOUR",
  find({ endpoints }) {
    return endpoints
      .filter(({ older, newer }) => (older.options.concurrent === false) !== (newer.options.concurrent === false))
      .map(({ newer, actor }) => {
        const place = `${actor.name}.${newer.name}`;
        const text = newer.options.concurrent
          ? `${place} is @concurrent now: it runs beside other messages, and answers may overtake`
          : `${place} is not @concurrent any more: it holds up what comes behind it, and calls back to the actor deadlock`;
        return { place, at: newer.at, side: "newer", text };
      });
  },
};
