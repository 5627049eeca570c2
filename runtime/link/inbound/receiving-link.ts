/** A link, as its receiving half uses it. `TLink` is the class of the link, which its host is told of. */
import type { LinkHost } from "../link-host.js";
import type { PendingCall, PendingCalls } from "../outbound/pending-calls.js";
import type { Session } from "../outbound/session.js";
import type { SessionOnLane } from "../outbound/session-link.js";
import type { Lane, LaneLink } from "./lane.js";

export interface ReceivingLink<TLink> extends LaneLink {
  readonly host: LinkHost<TLink>;
  readonly calls: PendingCalls;
  /** The lanes that the peer has opened, by their numbers. */
  readonly lanes: (Lane | undefined)[];
  readonly sessions: readonly (Session | undefined)[];
  readonly extents: Readonly<Record<string, number>>[];
  peer: LaneLink["peer"];
  isIntroduced: boolean;
  readonly isDialler: boolean;
  dialNumber: number;
  fault: Error | undefined;
  /** Removes a call that has ended from the pending calls. */
  endCall(call: PendingCall): void;
  /** The peer has closed a lane of this side, whose number is free again. */
  freeLane(lane: number): void;
  /** Tells the peer that a session sends nothing more. */
  closeSession(session: SessionOnLane): void;
  /** Closes the pipe at once because of an error. */
  destroy(error: Error): void;
}
