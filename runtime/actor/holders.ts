/**
 * Who holds a port: its owner must know, so that a receiver whose only sender has died does not wait for ever. Ports are
 * noted while a message is being encoded or decoded, and told to their owners when it is known whose message it is.
 */
import type { ActorId, ProcId } from "../link/address.js";
import type { Sender, Session } from "../link/session.js";
import type { Cell } from "./cell.js";
import type { ChannelPort, PortTarget } from "./port.js";
import type { Proc } from "./proc.js";

/** An actor that holds a port. */
export interface Holder {
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
export function noteHolders(from: Proc, holders: readonly Holder[], unreachable: readonly Holder[] = []): void {
  for (const { target } of portsWritten.splice(0)) {
    for (const holder of [...holders, ...unreachable]) tell(from, target, holder, true);
    for (const holder of unreachable) tell(from, target, holder, false);
  }
}

/** The ports in an answer are held by whoever asked: the sender of the session. */
export function holdReceived(session: Session | undefined): void {
  const { sender } = session ?? {};
  if (sender !== undefined && "holdPorts" in sender) (sender as Sender & Pick<Cell, "holdPorts">).holdPorts();
}

/** An actor of `from` has been given a port. */
export function noteHolder(from: Proc, port: PortTarget, holder: Holder): void {
  tell(from, port, holder, true);
}

/** An actor of `from` that held a port has ended. */
export function releaseHolder(from: Proc, port: PortTarget, holder: Holder): void {
  tell(from, port, holder, false);
}

function tell(from: Proc, target: PortTarget, holder: Holder, held: boolean): void {
  if (target.proc === from.id) from.portHeld(undefined, target.number, holder.name, holder.proc, held);
  else from.linkTo(target, target.location)?.sendHold(held, target.number, holder.name, holder.proc);
}
