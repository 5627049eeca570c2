/** Finds the actor that has started code which threw outside of any handler. */
import { currentTurn } from "../../actor/context.js";
import { AGENT_MESH } from "../../link/address.js";
import { thrownStack } from "../../thrown.js";
import type { Platform } from "../platform/platform.js";

/**
 * Attributes an uncaught error of a timer, a listener or a promise to the actor that started it. The error becomes a
 * failure of this actor, as far as the asynchronous context identifies one.
 * @returns whether an actor was found
 */
export function blameActor(platform: Platform, error: unknown): boolean {
  const turn = currentTurn();
  const cell = turn?.cell;
  if (turn === undefined || cell === undefined || cell.isRoot || cell.mesh === AGENT_MESH) return false;
  // An actor that has ended cannot fail any more.
  if (cell.ended === undefined) cell.failUncaught(error, turn.endpoint);
  else platform.print(`${cell.name} has ended, and code that it had left running threw: ${thrownStack(error)}\n`);
  return true;
}
