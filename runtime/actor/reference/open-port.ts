/** What can stand behind a port's number: a queue with a receiver, or a call that waits for its answer. */
import type { ActorId, ProcId } from "../../link/address.js";
import type { Destination } from "../../link/lane.js";
import type { Codec } from "../../wire/codec.js";
import type { ActorCell } from "../cell/actor-cell.js";

export interface OpenPort extends Destination {
  /** Whose actor it belongs to, and with whom it ends. */
  readonly cell: ActorCell;
  readonly number: bigint;
  readonly codec: Codec<unknown>;
  /** Somebody has opened a lane to it: holds the port, then. */
  laneOpenedBy(sender: ActorId): void;
  /** An actor holds the port, or does not any more. */
  setHolder(holder: string, proc: ProcId, held: boolean): void;
  /** A proc has ended, and with it whoever held the port there. */
  peerDown(peer: ProcId, reason: string): void;
  close(why: string): void;
}
