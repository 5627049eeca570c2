/** Reports endpoints that are no longer `@idempotent`. Calls to them cannot be retried. */
import type { BreakRule } from "../../break-rule.js";

export const idempotentRemoved: BreakRule = {
  code: "VC5050",
  name: "idempotent-removed",
  class: "BEHAVIOUR",
  find({ endpoints }) {
    return endpoints
      .filter(({ older, newer }) => older.options.idempotent && !newer.options.idempotent)
      .map(({ newer, actor }) => ({
        place: `${actor.name}.${newer.name}`,
        at: newer.at,
        side: "newer",
        text: `${actor.name}.${newer.name} is not @idempotent any more: callers that retry it are refused`,
        fix: "Write `@idempotent` above it, or add an endpoint with another name.",
      }));
  },
};
