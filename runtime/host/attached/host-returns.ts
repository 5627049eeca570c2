/**
 * The hosts of one mesh that were lost and may come back. Each has one wait, for which its ranks wait, too: it ends when the
 * host was attached again, when whoever holds the hosts says that it will not come back, or when its time is over. This
 * part finds lost hosts again; `AttachedHosts` attaches them.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import type { Clock, Timer } from "../../link/clock.js";
import { Deferred } from "../../link/deferred.js";

/** The pause in ms after the first attempt to attach a host that was found again; each further pause is twice as long. */
const firstPause = 100;
const longestPause = 5000;

/** The time in ms after the limit in which whoever holds the hosts can still say why a host did not come back. */
const verdictMs = 2000;

/** Finds the hosts of a mesh again that were lost. A job makes it, because it knows its provider. */
export interface HostFinder<Place> {
  /** The time in ms for which a lost host is waited for, more than 0. */
  readonly limit: number;
  /**
   * Resolves with the place of a host when it is up again.
   * @param number the number of the host in its mesh
   * @throws Error with the reason if it will not come back
   */
  find(number: number, signal: AbortSignal): Promise<Place>;
  /** Returns what keeps a lost host from coming back; undefined if nothing is known. */
  why(number: number): string | undefined;
  /** Called when a host was attached again. */
  returned(number: number): void;
}

/** The wait for one lost host. */
interface HostWait {
  readonly over: Deferred<void>;
  readonly leaving: AbortController;
  readonly timer: Timer;
}

export class HostReturns<Place> {
  readonly #finder: HostFinder<Place>;
  readonly #clock: Clock;
  readonly #attach: (number: number, place: Place) => Promise<void>;
  readonly #waits = new Map<number, HostWait>();

  /** @param attach attaches a host that was found again; rejects if that fails, and is called again then */
  constructor(finder: HostFinder<Place>, clock: Clock, attach: (number: number, place: Place) => Promise<void>) {
    this.#finder = finder;
    this.#clock = clock;
    this.#attach = attach;
  }

  /**
   * Starts to wait for a host that was lost.
   * @param loss why it was lost
   */
  lost(number: number, loss: string): void {
    if (this.#waits.has(number)) return;
    const { limit } = this.#finder;
    const late = () => {
      const why = this.#finder.why(number);
      const text = `${loss}; it did not come back within ${limit} ms (hostTimeout)`;
      this.#giveUp(number, why === undefined ? text : `${text}: ${why}`);
    };
    const wait = {
      over: new Deferred<void>(),
      leaving: new AbortController(),
      timer: this.#clock.after(limit + verdictMs, late),
    };
    this.#waits.set(number, wait);
    void this.#bringBack(number, wait);
  }

  /** The wait for a host: it resolves when the host is back. Undefined if the host is not waited for. */
  waitFor(number: number): Promise<void> | undefined {
    return this.#waits.get(number)?.over.promise;
  }

  /** Ends the wait for a host that leaves its mesh. */
  leave(number: number): void {
    this.#end(number)?.over.reject(new Error("its host has left the mesh"));
  }

  /** Ends all waits. */
  stop(): void {
    for (const number of [...this.#waits.keys()]) this.leave(number);
  }

  async #bringBack(number: number, wait: HostWait): Promise<void> {
    const { signal } = wait.leaving;
    for (let pause = firstPause; !signal.aborted; pause = Math.min(2 * pause, longestPause)) {
      let place: Place;
      try {
        place = await this.#finder.find(number, signal);
      } catch (error) {
        if (!signal.aborted) this.#giveUp(number, errorMessage(error));
        return;
      }
      try {
        if (signal.aborted) return;
        await this.#attach(number, place);
        if (this.#waits.get(number) !== wait) return;
        this.#end(number);
        this.#finder.returned(number);
        wait.over.resolve();
        return;
      } catch {
        // The host has ended again, or cannot be reached yet.
      }
      await new Promise<void>((resolve) => this.#clock.after(pause, resolve));
    }
  }

  #giveUp(number: number, reason: string): void {
    this.#end(number)?.over.reject(new Error(reason));
  }

  #end(number: number): HostWait | undefined {
    const wait = this.#waits.get(number);
    this.#waits.delete(number);
    wait?.timer.cancel();
    wait?.leaving.abort();
    return wait;
  }
}
