/**
 * Watches a host from the process of the driver itself. A read-only driver has no right to start the process that watches hosts
 * for other drivers (`host-watcher.ts`) on its gateway, and loses nothing if it is taken for dead because it was busy.
 */
import type { Clock, Timer } from "../../link/clock.js";

/** The number of beats in the time after which a silent host counts as gone, and a silent driver as ended. */
const beatsInLimit = 4;

/** A host that is watched. */
export interface BeatenHost {
  /** Sends a beat. Resolves with whether the host has answered it. Never rejects. */
  beat(): Promise<boolean>;
  /** The host has not answered for too long. */
  markLost(reason: string): void;
}

export interface BeatLimits {
  /** The time in ms without an answer after which the host counts as gone. */
  readonly silence: number;
  /** The time in ms after which the host ends the session of a driver that it does not hear. */
  readonly keepAlive: number;
}

export class OwnBeats {
  readonly #clock: Clock;
  readonly #host: BeatenHost;
  readonly #silence: number;
  readonly #interval: number;
  #heardAt: number;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(clock: Clock, host: BeatenHost, { silence, keepAlive }: BeatLimits) {
    this.#clock = clock;
    this.#host = host;
    this.#silence = silence;
    this.#interval = Math.min(silence, keepAlive) / beatsInLimit;
    this.#heardAt = clock.now();
    void this.#beat();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  async #beat(): Promise<void> {
    const hasAnswered = await this.#host.beat();
    if (this.#isStopped) return;
    const now = this.#clock.now();
    if (hasAnswered) this.#heardAt = now;
    if (now - this.#heardAt >= this.#silence) {
      this.stop();
      this.#host.markLost(`it has not answered for ${this.#silence} ms`);
      return;
    }
    this.#timer = this.#clock.after(this.#interval, () => void this.#beat());
  }
}
