/**
 * A record of the messages that one session has sent to a receiver that has moved. It exists until the former process
 * of the receiver has handled the messages. Later messages of the same sender wait for that, so that order holds across
 * the move, and the former process is not stopped before its callers have their answers.
 */

import type { MessageSender } from "./message-sender.js";
import type { PendingCall } from "./pending-calls.js";

export class UnhandledMessages {
  readonly sender: MessageSender;
  /** The calls whose callers still wait. */
  readonly #calls: Set<PendingCall>;
  #handled = false;
  #isAnswered = false;
  #whenHandled: (() => void)[] = [];
  #whenAnswered: (() => void)[] = [];

  constructor(sender: MessageSender, calls: readonly PendingCall[]) {
    this.sender = sender;
    this.#calls = new Set(calls);
  }

  /** Whether later messages of the sender can be sent. */
  get isHandled(): boolean {
    return this.#handled;
  }

  /** Calls `then` when later messages of the sender can be sent. The call may be immediate. */
  afterHandling(then: () => void): void {
    if (this.#handled) then();
    else this.#whenHandled.push(then);
  }

  /** Calls `then` when later messages can be sent and every call has its answer. The call may be immediate. */
  afterAnswers(then: () => void): void {
    if (this.#isAnswered) then();
    else this.#whenAnswered.push(then);
  }

  /** The receiver has handled everything: exclusive handlers have returned, and concurrent handlers have started. */
  markHandled(): void {
    if (!this.#handled) {
      this.#handled = true;
      for (const then of this.#whenHandled.splice(0)) then();
    }
    this.#check();
  }

  /** A call has its answer, or nobody waits for the answer any more. */
  callEnded(call: PendingCall): void {
    this.#calls.delete(call);
    this.#check();
  }

  /** The session has ended, and no more of its messages will be handled. */
  sessionEnded(): void {
    this.#calls.clear();
    this.markHandled();
  }

  #check(): void {
    if (this.#isAnswered || !this.#handled || this.#calls.size > 0) return;
    this.#isAnswered = true;
    for (const then of this.#whenAnswered.splice(0)) then();
  }
}
