/** The receiving end of a port number: a queue with a receiver, or a call that waits for its answer. */
import type { ActorId, ProcId } from "../../link/address.js";
import type { Destination } from "../../link/inbound/lane.js";
import type { Codec } from "../../wire/codec.js";
import type { ActorCell } from "../cell/actor-cell.js";

export interface OpenPort extends Destination {
  /** The actor that the port belongs to. The port closes when this actor ends. */
  readonly cell: ActorCell;
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
