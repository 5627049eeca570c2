/**
 * A record of the messages that one session has sent to a receiver that has moved: it is kept until the process that the receiver has
 * left has handled it. Later messages of the same sender wait for that, so that order holds across the move, and the process
 * is not stopped before its callers have their answers.
 */
import type { PendingCall } from "./calls.js";
import type { Sender } from "./sending.js";

export class Leaving {
  readonly sender: Sender;
  /** Calls whose answers somebody waits for. */
  readonly #calls: Set<PendingCall>;
  #handled = false;
  #over = false;
  #whenHandled: (() => void)[] = [];
  #whenOver: (() => void)[] = [];

  constructor(sender: Sender, calls: readonly PendingCall[]) {
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
    if (this.#over) then();
    else this.#whenOver.push(then);
  }

  /** The receiver has handled everything: handlers that hold up others have ended, concurrent ones have begun. */
  handled(): void {
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
  end(): void {
    this.#calls.clear();
    this.handled();
  }

  #check(): void {
    if (this.#over || !this.#handled || this.#calls.size > 0) return;
    this.#over = true;
    for (const then of this.#whenOver.splice(0)) then();
  }
}
