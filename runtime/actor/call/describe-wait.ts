/**
 * Describes the wait of a call for the text of its TimeoutError: the call chain, as far as this process knows it, and
 * whether the called actor waits for the calling actor.
 */
import { emptyChain } from "../../link/frame/message-extension.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { CallingTurn } from "../reference/outstanding-call.js";

/** The number of actors of the called mesh that are checked for waiting for the caller. */
const MOST_LOOKED_AT = 64;

/**
 * Returns the end of the text of the TimeoutError.
 *
 * @param turn the turn of the handler that made the call
 * @param label the called endpoint: `counters.value`
 */
export function describeWait(turn: CallingTurn, label: string, view: MeshView): string {
  const chain = [...callerNames(turn), turn.label, calledName(label, view)].join(" > ");
  const other = crossedActor(turn, view);
  const crossed = other === undefined ? "" : `, while ${other} waits for ${turn.cell.name}: they wait for each other`;
  return `; it waited in the chain ${chain}${crossed}`;
}

/** Returns the called endpoint, with the rank of the actor if the mesh has only one: `counters[3].value`. */
function calledName(label: string, view: MeshView): string {
  const { name } = view.record;
  return view.size === 1 ? `${name}[${view.target(0).rank}]${label.slice(name.length)}` : label;
}

/** Returns the actors that wait for the handler, outermost first. Only the direct caller is known by name. */
function callerNames({ call, lane, extension }: CallingTurn): string[] {
  if (call === 0) return [];
  const above = (extension?.chain ?? emptyChain).length / 2 - 1;
  return [...(above > 0 ? [`${above} more`] : []), lane.sender.name];
}

/** Returns an actor of the called mesh that waits, directly or through others, for the actor of the handler. */
function crossedActor({ cell }: CallingTurn, view: MeshView): string | undefined {
  for (let rank = 0; rank < Math.min(view.size, MOST_LOOKED_AT); rank++) {
    const target = view.target(rank);
    if (cell.isAwaitedBy(target.token)) return `${view.record.name}[${target.rank}]`;
  }
  return undefined;
}
