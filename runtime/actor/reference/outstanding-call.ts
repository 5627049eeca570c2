/** A call that waits for its answer, and the turn of the handler that made the call. */
import type { MessageExtension } from "../../link/frame/message-extension.js";
import type { Lane } from "../../link/inbound/lane.js";
import type { LocalActor } from "./local-actor.js";

/** A call that a handler has made and that has not been answered. */
export interface OutstandingCall {
  /** The called endpoint: `counters.value`. */
  readonly label: string;
  /** The turn that waits for the call. The call reports its end to this turn. Undefined outside of handlers. */
  turn: CallingTurn | undefined;
  /** Describes the wait, as the end of the text of a TimeoutError. */
  readonly waitText: string;
  /**
   * Ends the call with `error`.
   *
   * @param reason an index of `cancelReasons`
   * @param quietly whether the rejection, if nobody handles it, is not reported as unhandled
   */
  abandon(error: unknown, reason: number, quietly: boolean): void;
}

/** The turn of a handler, as the calls that it has made see it. */
export interface CallingTurn {
  readonly cell: LocalActor;
  /** The actor and the endpoint of the handler: `counters[1].value`. */
  readonly label: string;
  /** The lane on which the handler's message arrived. */
  readonly lane: Lane;
  /** The number of the handler's own call on the link of its lane. 0: the caller expects no answer. */
  readonly call: number;
  readonly extension: MessageExtension | undefined;
  /** Unregisters a call that has ended. */
  removeOutstanding(call: OutstandingCall): void;
  /** Runs `body` as code of the handler. */
  runAsHandler(body: () => void): void;
}
