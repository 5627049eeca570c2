/** Reports actors that the newer schema does not have. Calls to them are refused. */
import type { ActorRule } from "../wire-rule.js";

export const actorRemoved: ActorRule = {
  code: "VC5013",
  name: "actor-removed",
  fix: "Keep the actor until nobody calls it. If its interface was renamed, take the old name back: the lock knows actors by it.",
  compares: "actor",
  find({ name, id }, newer) {
    const now = [...newer.services.values()];
    if (now.some((service) => service.id === id || service.name === name)) return [];
    return [{ place: name, text: "the actor has gone: calls of the older schema are refused" }];
  },
};
