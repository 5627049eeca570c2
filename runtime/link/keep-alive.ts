/**
 * What keeps the operating-system process alive: whoever waits for something (a call, a stream, a receiver) holds it;
 * links, meshes and listening sockets don't.
 */
export interface KeepAlive {
  hold(): void;
  release(): void;
}

/** The longest delay a timer can have, in milliseconds. */
const MAX_DELAY_MS = 0x7fff_ffff;

/**
 * Holds with a timer that never does anything: to ref and unref it costs 10 ns. One that is due soon would cost each call
 * of a program that makes one after another more than that: it makes the kernel set a timer whenever the process sleeps.
 */
export class TimerKeepAlive implements KeepAlive {
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  hold(): void {
    if (this.#holders++ > 0) return;
    if (this.#timer === undefined) this.#timer = setInterval(() => {}, MAX_DELAY_MS);
    else this.#timer.ref();
  }

  release(): void {
    if (--this.#holders === 0) this.#timer?.unref();
  }
}

/** Holds nothing: for procs whose life is decided by something else. */
export const noKeepAlive: KeepAlive = { hold() {}, release() {} };
