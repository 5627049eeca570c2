/** The link of a session, as the session uses it. */
import type { ProcId } from "../address.js";
import type { FrameSender } from "./frame-sender.js";
import type { PendingCall, PendingCalls } from "./pending-calls.js";

/** A session, as its link finds it. */
export interface SessionOnLane {
  /** The number of the lane. */
  readonly lane: number;
}

export interface SessionLink extends FrameSender {
  readonly peer: ProcId | undefined;
  readonly calls: PendingCalls;
  /** Whether a session of the link has a receiver that has moved. The link then tells sessions of calls that end. */
  hasUnhandled: boolean;
  /** Keeps the process alive until `releaseProcess` is called. */
  holdProcess(): void;
  releaseProcess(): void;
  /** Removes a call that has ended from the pending calls. */
  endCall(call: PendingCall): void;
  /** Notes that nobody waits for a call any more. The call stays pending until the receiver ends it. */
  abandonCall(call: PendingCall): void;
  /** Tells the peer that a session sends nothing more. */
  closeSession(session: SessionOnLane): void;
}
