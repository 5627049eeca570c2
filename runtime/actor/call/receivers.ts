/** The receivers of a message: the sessions of the sender to them, and the ports that the message gives them. */
import { DeliveryError } from "../../link/errors.js";
import type { Session } from "../../link/outbound/session.js";
import { announceHolders, holderName } from "../port/announce-holders.js";
import type { LocalActor } from "../reference/local-actor.js";
import type { MeshView } from "../reference/mesh-view.js";

/** Returns all ranks of a view. */
export function allRanks({ size }: MeshView): number[] {
  return Array.from({ length: size }, (_, rank) => rank);
}

/** Returns the session to the actor at a rank, or the reason why there can be none. */
export function openSession(sender: LocalActor, view: MeshView, rank: number): Session | DeliveryError {
  const target = view.target(rank);
  if (target.departure !== undefined) return target.departure;
  try {
    return sender.outbound.session(target, target, target.location);
  } catch (error) {
    if (error instanceof DeliveryError) return error;
    throw error;
  }
}

/** Returns the sessions to all actors, by rank. */
export function openSessions(sender: LocalActor, view: MeshView): (Session | DeliveryError)[] {
  const sessions: (Session | DeliveryError)[] = [];
  for (let rank = 0; rank < view.size; rank++) sessions.push(openSession(sender, view, rank));
  return sessions;
}

/** Makes the actors at `ranks` holders of the ports in the message that was encoded last. */
export function announceReceivers(
  sender: LocalActor,
  view: MeshView,
  ranks: readonly number[],
  unreachable: readonly number[] = [],
): void {
  const holderAt = (rank: number) => {
    const { proc, mesh, rank: own, generation } = view.target(rank);
    return { proc, name: holderName({ mesh: mesh.id, rank: own, incarnation: generation }) };
  };
  announceHolders(sender.proc, ranks.map(holderAt), unreachable.map(holderAt));
}

/** Makes the actors that a message was sent to holders of its ports. Actors without a session release them at once. */
export function announceReceiversOfSessions(
  sender: LocalActor,
  view: MeshView,
  sessions: readonly (Session | DeliveryError)[],
): void {
  const ranks = [...sessions.keys()];
  const isOpen = (rank: number) => !(sessions[rank] instanceof DeliveryError);
  announceReceivers(
    sender,
    view,
    ranks.filter(isOpen),
    ranks.filter((rank) => !isOpen(rank)),
  );
}
