/**
 * What keeps the operating-system process alive: whoever waits for something (a call, a stream, a receiver) holds it;
 * links, meshes and listening sockets don't. Releasing lets go a moment later, so that a program that makes one call
 * after another does not pay for it each time.
 */
import type { Clock } from "./clock.js";

export interface KeepAlive {
  hold(): void;
  release(): void;
}

/** How long the process is still held after the last release, in milliseconds. */
const LINGER_MS = 5;
/** The longest delay a timer can have, in milliseconds. */
const FOREVER_MS = 0x7fff_ffff;

/** Holds with a timer that never does anything. */
export class TimerKeepAlive implements KeepAlive {
  readonly #clock: Clock;
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;
  #held = false;
  #checking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hold(): void {
    if (this.#holders++ > 0 || this.#held) return;
    this.#held = true;
    if (this.#timer === undefined) this.#timer = setInterval(() => {}, FOREVER_MS);
    else this.#timer.ref();
  }

  release(): void {
    if (--this.#holders > 0 || this.#checking) return;
    this.#checking = true;
    this.#clock.after(LINGER_MS, () => {
      this.#checking = false;
      if (this.#holders > 0) return;
      this.#held = false;
      this.#timer?.unref();
    });
  }
}

/** Holds nothing: for procs whose life is decided by something else. */
export const noKeepAlive: KeepAlive = { hold() {}, release() {} };
