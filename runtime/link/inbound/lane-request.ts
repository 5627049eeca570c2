/** The contents of an `open` frame: the lane that a peer asks for. */
import type { ActorId } from "../address.js";
import type { SessionTarget } from "../outbound/message-sender.js";

/** The sender of a lane, as the peer describes it. */
export interface LaneSender extends ActorId {
  /** The name of the sender for errors: `counters[1]`, or the name of a program. */
  readonly name: string;
}

/**
 * The limits of a sender: how many messages may be unconsumed at the receiver, and by how many items a stream that the
 * sender has requested may be ahead of it.
 */
export interface LaneCredit {
  readonly messages: number;
  readonly bytes: number;
  readonly streamItems: number;
  readonly streamBytes: number;
}

/** The contents of an `open` frame. */
export interface LaneRequest {
  readonly sender: LaneSender;
  readonly target: SessionTarget;
  readonly credit: LaneCredit;
}
