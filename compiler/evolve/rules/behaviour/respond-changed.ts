/** Reports endpoints that change between returning their answer and sending it to a port. */
import type { BreakRule } from "../../break-rule.js";

export const respondChanged: BreakRule = {
  code: "VC5054",
  name: "respond-changed",
  class: "BEHAVIOUR",
  find({ endpoints }) {
    return endpoints
      .filter(({ older, newer }) => older.options.respond !== newer.options.respond)
      .map(({ newer, actor }) => {
        const place = `${actor.name}.${newer.name}`;
        const text = newer.options.respond
          ? `${place} is @respond now: it answers when its port is sent to, not when it returns`
          : `${place} is not @respond any more: callers give the port themselves, and the call ends when it returns`;
        return { place, at: newer.at, side: "newer", text };
      });
  },
};
