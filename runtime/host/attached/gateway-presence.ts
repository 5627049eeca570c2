/**
 * Whether a driver gateway answers, for as long as the driver needs one. The driver asks again and again, also while it sends
 * nothing: a gateway whose machine has lost its power says nothing, and another one must take its place before hosts take
 * the driver for dead.
 */
import type { Clock, Timer } from "../../link/clock.js";
import { SilenceTimer } from "../../proc/remote/silence-timer.js";

/** The number of questions in the time for which the driver may be absent, and the longest time between two of them in ms. */
const questions = 12;
const longestInterval = 5000;

export interface AskedGateway {
  /** Asks whether a gateway answers. Never rejects. */
  ask(): Promise<boolean>;
  /** Why none was reached; undefined if none has refused this driver. */
  why(): string | undefined;
}

export class GatewayPresence {
  readonly #clock: Clock;
  readonly #gateway: AskedGateway;
  readonly #interval: number;
  readonly #silence: SilenceTimer;
  readonly #onOver: (why: string) => void;
  #timer: Timer | undefined;
  #isOver = false;

  /**
   * @param absence the time in ms for which no gateway may answer
   * @param onOver called once with the reason, when the time is over
   */
  constructor(clock: Clock, gateway: AskedGateway, absence: number, onOver: (why: string) => void) {
    this.#clock = clock;
    this.#gateway = gateway;
    this.#onOver = onOver;
    this.#interval = Math.min(longestInterval, absence / questions);
    const over = () => this.giveUp(this.#gateway.why() ?? "none answers");
    // The last answer may have come an interval before the gateway ended.
    this.#silence = new SilenceTimer(clock, absence + this.#interval, over);
    this.#askLater();
  }

  /** Whether no gateway has answered for too long, or the questions were stopped. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Records that a gateway has answered. */
  answered(): void {
    this.#silence.reset();
  }

  /** Ends the questions, because no gateway can be used. */
  giveUp(why: string): void {
    if (this.#isOver) return;
    this.stop();
    this.#onOver(why);
  }

  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
    this.#silence.stop();
  }

  #askLater(): void {
    this.#timer = this.#clock.after(this.#interval, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    if (await this.#gateway.ask()) this.answered();
    if (!this.#isOver) this.#askLater();
  }
}
