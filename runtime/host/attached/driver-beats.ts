/**
 * Heartbeats that a driver sends itself, to a host that only its own process can reach: by a WebSocket, or by a function. Other hosts
 * are watched by a process of its own (`host-watcher.ts`), which dials their addresses.
 */
import { ActorError } from "../../actor/errors.js";
import type { Clock, Timer } from "../../link/clock.js";
import { SilenceTimer } from "../../proc/remote/silence-timer.js";

/** Number of beats in the time after which a silent host counts as gone. */
const beatsInSilence = 12;

export interface DriverBeatsOptions {
  readonly clock: Clock;
  /** The time in ms after which a host that answers no beat counts as gone. */
  readonly silence: number;
  /** Sends a beat over the link of the driver. */
  send(): PromiseLike<unknown>;
  /** Called once with the reason when the host is gone. */
  gone(reason: string): void;
}

export class DriverBeats {
  readonly #options: DriverBeatsOptions;
  readonly #silence: SilenceTimer;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: DriverBeatsOptions) {
    const { clock, silence } = options;
    this.#options = options;
    this.#silence = new SilenceTimer(clock, silence, () => this.#end(`it has not answered for ${silence} ms`));
    void this.#beat();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#silence.stop();
  }

  async #beat(): Promise<void> {
    const { clock, silence, send } = this.#options;
    try {
      await send();
      this.#silence.reset();
    } catch (error) {
      // The host has answered that it does not know this driver. Other errors may pass.
      if (error instanceof ActorError) this.#end(error.message);
    }
    if (!this.#isStopped) this.#timer = clock.after(silence / beatsInSilence, () => void this.#beat());
  }

  #end(reason: string): void {
    if (this.#isStopped) return;
    this.stop();
    this.#options.gone(reason);
  }
}
