/** Reports actors whose id changed. Calls identify an actor by its id, which the lock keeps. */
import type { ActorRule } from "../wire-rule.js";

export const actorIdChanged: ActorRule = {
  code: "VC5014",
  name: "actor-id-changed",
  fix: "Restore the actor's line in the lock from version control.",
  compares: "actor",
  find({ name, id }, newer) {
    const now = newer.services.get(name);
    if (now === undefined || now.id === id || [...newer.services.values()].some((other) => other.id === id)) return [];
    const hex = (value: number) => `0x${value.toString(16).padStart(8, "0")}`;
    return [{ place: name, text: `its id was ${hex(id)} and is ${hex(now.id)}: neither side knows the other's actor` }];
  },
};
