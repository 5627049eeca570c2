/** Endpoints whose handlers wait until something ends, so that an actor that is stopped does not wait for them. */
import type { Turn } from "./turn.js";

const endlessEndpoints = new WeakMap<object, ReadonlySet<string>>();

/** Declares that calls of some `@concurrent` endpoints of an actor class are interrupted when the actor is stopped. */
export function interruptAtStop(actorClass: object, endpoints: readonly string[]): void {
  endlessEndpoints.set(actorClass, new Set(endpoints));
}

/** Returns whether an actor that is stopped does not wait for a turn. */
export function isInterruptedAtStop({ cell, handler }: Turn): boolean {
  const { actorClass } = cell.spec;
  return actorClass !== undefined && endlessEndpoints.get(actorClass)?.has(handler.endpoint.name) === true;
}
