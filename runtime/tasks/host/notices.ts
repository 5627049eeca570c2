/** The streams of notices: what happens to the leases of each process that has some. */
import type { LeaseNotice } from "../../../generated/tasks.js";

interface Listener {
  readonly notices: LeaseNotice[];
  wake: () => void;
}

export class Notices {
  readonly #listeners = new Map<bigint, Listener>();

  has(holder: bigint): boolean {
    return this.#listeners.has(holder);
  }

  /** Tells a holder something, if it listens. */
  send(holder: bigint, notice: LeaseNotice): void {
    const listener = this.#listeners.get(holder);
    listener?.notices.push(notice);
    listener?.wake();
  }

  /**
   * Yields the notices of a holder until it stops to listen.
   *
   * @param signal aborted when the holder has stopped to listen, or has ended
   * @param ended called then
   * @throws {Error} if the holder listens already
   */
  listen(holder: bigint, signal: AbortSignal, ended: () => void): AsyncGenerator<LeaseNotice, void> {
    if (this.#listeners.has(holder)) throw new Error(`cannot read the notices of process ${holder} twice`);
    const listener: Listener = { notices: [], wake: () => {} };
    this.#listeners.set(holder, listener);
    const leave = () => {
      listener.wake();
      if (this.#listeners.get(holder) === listener && this.#listeners.delete(holder)) ended();
    };
    signal.addEventListener("abort", leave);
    return readNotices(listener, signal, leave);
  }
}

async function* readNotices(
  listener: Listener,
  signal: AbortSignal,
  leave: () => void,
): AsyncGenerator<LeaseNotice, void> {
  try {
    while (!signal.aborted) {
      const notice = listener.notices.shift();
      if (notice !== undefined) yield notice;
      else
        await new Promise<void>((resolve) => {
          listener.wake = resolve;
        });
    }
  } finally {
    leave();
  }
}
