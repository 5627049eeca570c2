/** The receivers of the answers to a call of several actors. Types only. */
import type { CastSink } from "../../cast/sender/pending-cast.js";
import type { PortOwner } from "../reference/open-port.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import type { RankCall, RankCallOwner } from "./rank-call.js";

/** Collects the answers of all ranks. */
export interface AnswerSink extends RankCallOwner, OutstandingCall {
  /** Returns the call to one rank. It is asked for once, when the message to the rank is sent. */
  callAt(rank: number): RankCall;
  /** Collects the answers if the message is cast. Undefined: the message is sent to each actor separately. */
  readonly castSink?: CastAnswerSink;
}

/** Collects the answers to a cast. */
export interface CastAnswerSink extends CastSink {
  /** The name of the reduction by which procs of the tree combine answers. Empty: they combine none. */
  readonly reduction: string;
  /**
   * Called when the cast has been sent.
   *
   * @param cancel abandons the cast, for a reason that is an index of `cancelReasons`
   * @param ports owns the ports in the answers
   */
  castStarted(cancel: (reason: number) => void, ports: PortOwner): void;
}
