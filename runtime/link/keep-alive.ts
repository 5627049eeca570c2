/**
 * Keeps the process alive while something is awaited: a call, a stream or a receiver. Links, meshes and listening
 * sockets do not keep the process alive.
 */
export interface KeepAlive {
  hold(): void;
  release(): void;
}

/** The longest delay a timer can have, in milliseconds. */
const MAX_DELAY_MS = 0x7fff_ffff;

/**
 * Keeps the process alive with a timer that never fires, because ref and unref of such a timer cost 10 ns. A timer that
 * is due soon would make the kernel set a timer whenever the process sleeps, which costs a program that makes one call
 * after another more.
 */
export class TimerKeepAlive implements KeepAlive {
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  hold(): void {
    if (this.#holders++ === 0) this.#holdFirst();
  }

  #holdFirst(): void {
    if (this.#timer === undefined) this.#timer = setInterval(() => {}, MAX_DELAY_MS);
    else this.#timer.ref();
  }

  release(): void {
    this.#holders--;
    if (this.#holders === 0) this.#timer?.unref();
  }
}

/** Does nothing, for procs whose process is kept alive by something else. */
export const noKeepAlive: KeepAlive = { hold() {}, release() {} };
