/**
 * Who holds a port: its owner must know, so that a receiver whose only sender has died does not wait for ever. Ports are
 * noted while a message is being encoded or decoded, and told to their owners when it is known whose message it is.
 */
import type { ActorId, ProcId } from "../../link/address.js";
import type { Sender, Session } from "../../link/session.js";
import type { ActorCell } from "../cell/actor-cell.js";
import type { Proc } from "../proc/proc.js";
import type { ChannelPort, PortTarget } from "./port.js";

/** An actor that holds a port. */
export interface PortHolder {
  readonly proc: ProcId;
  /** Of the actor, the same on both sides. */
  readonly name: string;
}

/** Ports in the message that was encoded last. */
export const portsWritten: ChannelPort<unknown>[] = [];
/** Ports in the message that was decoded last. */
export const portsRead: ChannelPort<unknown>[] = [];

export function holderName({ mesh, rank, incarnation }: Pick<ActorId, "mesh" | "rank" | "incarnation">): string {
  return `${mesh}/${rank}/${incarnation}`;
}

/**
 * The message that was encoded last has been sent by `from` to `holders`. Those that it cannot reach let go of its ports
 * at once: so a receiver learns that nobody has them.
 */
export function announceHolders(
  from: Proc,
  holders: readonly PortHolder[],
  unreachable: readonly PortHolder[] = [],
): void {
  for (const { target } of portsWritten.splice(0)) {
    for (const holder of [...holders, ...unreachable]) tellOwner(from, target, holder, true);
    for (const holder of unreachable) tellOwner(from, target, holder, false);
  }
}

/** The ports in an answer are held by whoever asked: the sender of the session. */
export function ownReceivedPorts(session: Session | undefined): void {
  const { sender } = session ?? {};
  if (sender !== undefined && "ownDecodedPorts" in sender)
    (sender as Sender & Pick<ActorCell, "ownDecodedPorts">).ownDecodedPorts();
}

/** An actor of `from` has been given a port. */
export function announceHolder(from: Proc, port: PortTarget, holder: PortHolder): void {
  tellOwner(from, port, holder, true);
}

/** An actor of `from` that held a port has ended. */
export function releaseHolder(from: Proc, port: PortTarget, holder: PortHolder): void {
  tellOwner(from, port, holder, false);
}

function tellOwner(from: Proc, target: PortTarget, holder: PortHolder, held: boolean): void {
  if (target.proc === from.id) from.portHeld(undefined, target.number, holder.name, holder.proc, held);
  else from.linkTo(target, target.location)?.sendHold(held, target.number, holder.name, holder.proc);
}
