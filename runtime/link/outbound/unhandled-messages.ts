/**
 * A record of the messages that one session has sent to a receiver that has moved: it is kept until the process that the receiver has
 * left has handled it. Later messages of the same sender wait for that, so that order holds across the move, and the process
 * is not stopped before its callers have their answers.
 */

import type { MessageSender } from "./message-sender.js";
import type { PendingCall } from "./pending-calls.js";

export class UnhandledMessages {
  readonly sender: MessageSender;
  /** Calls whose answers somebody waits for. */
  readonly #calls: Set<PendingCall>;
  #handled = false;
  #isAnswered = false;
  #whenHandled: (() => void)[] = [];
  #whenAnswered: (() => void)[] = [];

  constructor(sender: MessageSender, calls: readonly PendingCall[]) {
    this.sender = sender;
    this.#calls = new Set(calls);
  }

  /** Whether later messages of the sender need not wait any more. */
  get isHandled(): boolean {
    return this.#handled;
  }

  /** Calls `then` when later messages of the sender need not wait any more; maybe at once. */
  afterHandling(then: () => void): void {
    if (this.#handled) then();
    else this.#whenHandled.push(then);
  }

  /** Calls `then` when, besides, every call has its answer; maybe at once. */
  afterAnswers(then: () => void): void {
    if (this.#isAnswered) then();
    else this.#whenAnswered.push(then);
  }

  /** The receiver has handled everything: handlers that hold up others have ended, concurrent ones have begun. */
  markHandled(): void {
    if (!this.#handled) {
      this.#handled = true;
      for (const then of this.#whenHandled.splice(0)) then();
    }
    this.#check();
  }

  /** A call has its answer, or nobody waits for that any more. */
  callEnded(call: PendingCall): void {
    this.#calls.delete(call);
    this.#check();
  }

  /** The session has come to its end: nothing of it is handled any more. */
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
