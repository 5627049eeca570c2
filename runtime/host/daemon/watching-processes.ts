/**
 * The processes that send beats to a host for one driver. Usually there is one. There are two for a moment when the driver
 * goes on through another gateway, or has replaced a process that was killed. Only the last of them knows that the driver has ended:
 * a gateway that the driver has left takes it for dead.
 */
import type { ProcId } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";

/**
 * The number of beats of each process that are remembered. It is the number of beats in the time after which a silent
 * host counts as gone (`proc/remote/host-watch.ts`), so a process that is alive has sent one in the time of so many.
 */
const remembered = 12;

/** The number of processes that are remembered. */
const mostProcesses = 8;

export class WatchingProcesses {
  readonly #clock: Clock;
  /** The times of the last beats of each process, the process that was heard last at the end. */
  readonly #beats = new Map<ProcId, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records a beat. */
  beat(from: ProcId): void {
    const times = this.#beats.get(from) ?? [];
    this.#beats.delete(from);
    times.push(this.#clock.now());
    if (times.length > remembered) times.shift();
    this.#beats.set(from, times);
    if (this.#beats.size > mostProcesses) this.#beats.delete(this.#beats.keys().next().value!);
  }

  /** Forgets a process that watches no longer. Returns whether another one is alive, as far as is known. */
  leave(from: ProcId): boolean {
    const since = this.#beats.get(from)?.[0] ?? Number.NEGATIVE_INFINITY;
    this.#beats.delete(from);
    return [...this.#beats.values()].some((times) => times.at(-1)! > since);
  }
}
