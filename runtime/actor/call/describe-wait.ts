/**
 * Describes where a call has waited, for the error when its time is over. Known are the handler that made the call, who
 * called that, and how many actors wait above; and whether the actor that was called waits for this one itself.
 */
import { emptyChain } from "../../link/frame/message-extension.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { CallingTurn } from "../reference/outstanding-call.js";

/** Actors of a mesh that are looked at: of larger ones, the others are left out. */
const MOST_LOOKED_AT = 64;

/**
 * Returns the end of the error's text.
 * @param turn of the handler that made the call
 * @param label what it called: `counters.value`
 */
export function describeWait(turn: CallingTurn, label: string, view: MeshView): string {
  const chain = [...callerNames(turn), turn.label, calledName(label, view)].join(" > ");
  const other = crossedActor(turn, view);
  const crossed = other === undefined ? "" : `, while ${other} waits for ${turn.cell.name}: they wait for each other`;
  return `; it waited in the chain ${chain}${crossed}`;
}

/** Names the actor, where it is one. */
function calledName(label: string, view: MeshView): string {
  const { name } = view.record;
  return view.size === 1 ? `${name}[${view.target(0).rank}]${label.slice(name.length)}` : label;
}

/** The actors that wait for the handler, outermost first. */
function callerNames({ call, lane, extension }: CallingTurn): string[] {
  if (call === 0) return [];
  const above = (extension?.chain ?? emptyChain).length / 2 - 1;
  return [...(above > 0 ? [`${above} more`] : []), lane.sender.name];
}

/** An actor of the mesh whose own call, or one that it waits for, is in the mailbox of the handler's actor. */
function crossedActor({ cell }: CallingTurn, view: MeshView): string | undefined {
  for (let rank = 0; rank < Math.min(view.size, MOST_LOOKED_AT); rank++) {
    const target = view.target(rank);
    if (cell.isAwaitedBy(target.token)) return `${view.record.name}[${target.rank}]`;
  }
  return undefined;
}
