/**
 * Tells the owner of a port which actors hold it, so that a receiver does not wait forever after its only sender has
 * died. Ports are collected while a message is encoded or decoded, and announced to their owners when the receiver or
 * sender of that message is known.
 */
import type { ActorId, ProcId } from "../../link/address.js";
import type { Session } from "../../link/outbound/session.js";
import type { ActorProc } from "../reference/actor-proc.js";
import type { ActorSender } from "../reference/local-actor.js";
import type { PortTarget } from "./port-target.js";

/** An actor that holds a port. */
export interface PortHolder {
  readonly proc: ProcId;
  /** The actor's name. Both processes derive the same name. */
  readonly name: string;
}

/** A port in a message, or another handle that is followed as ports are. */
export interface PortInMessage {
  readonly target: PortTarget;
  /** Opens the port before its holders are announced. Returns false if it is not in the message that has been sent. */
  readonly openForHolders?: () => boolean;
  /**
   * Called in place of making the receiving actor a holder until it ends.
   *
   * @param release ends the hold of this actor
   */
  readonly received?: (release: () => void) => void;
}

/** The ports in the message that was encoded last. */
export const portsWritten: PortInMessage[] = [];
/** The ports in the message that was decoded last. */
export const portsRead: PortInMessage[] = [];

export function holderName({ mesh, rank, incarnation }: Pick<ActorId, "mesh" | "rank" | "incarnation">): string {
  return `${mesh}/${rank}/${incarnation}`;
}

/**
 * Announces that `from` has sent the message that was encoded last to `holders`. The holders in `unreachable` release
 * its ports at once, so that a receiver learns that no holder is left.
 */
export function announceHolders(
  from: ActorProc,
  holders: readonly PortHolder[],
  unreachable: readonly PortHolder[] = [],
): void {
  for (const { target, openForHolders } of portsWritten.splice(0)) {
    if (openForHolders?.() === false) continue;
    for (const holder of [...holders, ...unreachable]) tellOwner(from, target, holder, true);
    for (const holder of unreachable) tellOwner(from, target, holder, false);
  }
}

/** Makes the sender of `session`, who asked, a holder of the ports in the answer that was decoded last. */
export function ownReceivedPorts(session: Session | undefined): void {
  const { sender } = session ?? {};
  // The other senders, which order the messages of casts, make no calls.
  if (sender !== undefined && "ports" in sender) (sender as ActorSender).ports.ownDecoded();
}

/** Announces that an actor of `from` holds a port. */
export function announceHolder(from: ActorProc, port: PortTarget, holder: PortHolder): void {
  tellOwner(from, port, holder, true);
}

/** Announces that an actor of `from` no longer holds a port. */
export function releaseHolder(from: ActorProc, port: PortTarget, holder: PortHolder): void {
  tellOwner(from, port, holder, false);
}

function tellOwner(from: ActorProc, target: PortTarget, holder: PortHolder, held: boolean): void {
  if (target.proc === from.id) from.portHolderChanged(undefined, target.number, holder.name, holder.proc, held);
  else from.linkTo(target, target.location)?.sendHold(held, target.number, holder.name, holder.proc);
}
