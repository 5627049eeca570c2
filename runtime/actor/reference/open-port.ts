/**
 * The receiving end of a port number: a queue with a receiver, or a call that waits for its answer. Each port belongs to
 * an actor and closes when this actor ends.
 */
import type { ActorId, ProcId } from "../../link/address.js";
import type { Destination } from "../../link/inbound/lane.js";
import type { Codec } from "../../wire/codec.js";

/** The ports of one actor: those that it has opened, and those that it has received. */
export interface PortOwner {
  /** Registers a port that the actor has opened. */
  add(port: OpenPort): void;
  /** Removes a port that the actor has opened and that is closed. */
  remove(port: OpenPort): void;
  /** Makes the actor a holder of the ports in the message that was decoded last. */
  ownDecoded(): void;
}

export interface OpenPort extends Destination {
  readonly owner: PortOwner;
  readonly number: bigint;
  readonly codec: Codec<unknown>;
  /** Called when `sender` opens a lane to the port, which makes it a holder of the port. */
  laneOpenedBy(sender: ActorId): void;
  /** Adds or removes a holder of the port. */
  setHolder(holder: string, proc: ProcId, held: boolean): void;
  /** Called when a proc has ended. All holders of the port in that proc have ended, too. */
  peerDown(peer: ProcId, reason: string): void;
  close(why: string): void;
}
