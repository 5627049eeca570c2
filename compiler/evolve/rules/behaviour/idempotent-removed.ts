/** Reports endpoints and tasks that are no longer `@idempotent`. They cannot be retried. */
import type { BreakRule } from "../../break-rule.js";

export const idempotentRemoved: BreakRule = {
  code: "VC5050",
  name: "idempotent-removed",
  class: "BEHAVIOUR",
  find({ endpoints, tasks }) {
    return [
      ...endpoints
        .filter(({ older, newer }) => older.options.idempotent && !newer.options.idempotent)
        .map(({ newer, actor }) => ({
          place: `${actor.name}.${newer.name}`,
          at: newer.at,
          side: "newer" as const,
          text: `${actor.name}.${newer.name} is not @idempotent any more: callers that retry it are refused`,
          fix: "Write `@idempotent` above it, or add an endpoint with another name.",
        })),
      ...tasks
        .filter(({ older, newer }) => older.idempotent && !newer.idempotent)
        .map(({ newer }) => ({
          place: newer.name,
          at: newer.at,
          side: "newer" as const,
          text: `${newer.name} is not @idempotent any more: it is not run again when its worker process ends`,
          fix: "Write `@idempotent` above it, or add a task with another name.",
        })),
    ];
  },
};
