/**
 * Counts the messages that an actor has handled, if its process is replaced after a number of them. When they have been
 * handled, no other message starts, and the replacement is asked for as soon as nothing is being handled.
 */
import type { Clock, Timer } from "../../link/clock.js";

/**
 * The time in milliseconds in which running handlers must end before the replacement. A handler can wait for a later message,
 * which does not start meanwhile. The messages start again after this time, and as many of them are handled before the next
 * attempt.
 */
export const RUNNING_MS = 5000;

/** `counting`: messages start. `ending`: handlers still run. `spent`: nothing runs, and the replacement has been asked for. */
type State = "counting" | "ending" | "spent";

export class CallLimit {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #spent: () => void;
  #left: number;
  #state: State = "counting";
  #timer: Timer | undefined;
  /** Starts the waiting messages. The mailbox sets it. */
  resume: () => void = () => {};

  /**
   * @param most the number of messages
   * @param spent called when they have been handled and nothing runs
   */
  constructor(most: number, clock: Clock, spent: () => void) {
    this.#most = most;
    this.#left = most;
    this.#clock = clock;
    this.#spent = spent;
  }

  /** Whether no message may start. */
  get isHolding(): boolean {
    return this.#state !== "counting";
  }

  /** Counts a message whose handler has ended. */
  handled(): void {
    if (this.#state !== "counting" || --this.#left > 0) return;
    this.#state = "ending";
    this.#timer = this.#clock.after(RUNNING_MS, () => this.#postpone(), true);
  }

  /** Called whenever nothing is being handled. */
  nothingRuns(): void {
    if (this.#state !== "ending") return;
    this.#timer?.cancel();
    this.#state = "spent";
    this.#spent();
  }

  /** Ends the count, because the actor is stopped or its messages are passed on. */
  close(): void {
    this.#timer?.cancel();
  }

  #postpone(): void {
    this.#left = this.#most;
    this.#state = "counting";
    this.resume();
  }
}
