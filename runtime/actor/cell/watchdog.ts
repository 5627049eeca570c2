/**
 * The watchdog of one actor: reports handlers that exceed their time limits while the event loop runs, with the calls that
 * they wait for, and finally makes the actor fail. The platform detects handlers that block the event loop.
 */
import type { Clock, Timer } from "../../link/clock.js";
import type { WatchLimits } from "../reference/actor-request.js";
import type { Turn } from "./turn.js";

export interface WatchedActor {
  /** The name of the actor: `counters[1]`. */
  readonly name: string;
  /** Called once for a handler that has exceeded its first time limit. */
  handlerSlow(message: string): void;
  /** Called for a handler that has exceeded both time limits. The actor fails. */
  handlerStuck(turn: Turn, message: string): void;
}

interface RunningHandler {
  /** The time of its start, by the clock, in milliseconds. */
  readonly since: number;
  /** The time of the warning. */
  warnedAt?: number;
}

export class Watchdog {
  readonly #watched: WatchedActor;
  readonly #limits: WatchLimits;
  readonly #clock: Clock;
  readonly #running = new Map<Turn, RunningHandler>();
  #timer: Timer | undefined;
  /** The time when the timer runs. */
  #due = Number.POSITIVE_INFINITY;

  constructor(watched: WatchedActor, limits: WatchLimits, clock: Clock) {
    this.#watched = watched;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Called when a handler has started. Handlers that stream are not watched, because they wait for their consumers. */
  handlerStarted(turn: Turn): void {
    if (turn.handler.endpoint.stream) return;
    const since = this.#clock.now();
    this.#running.set(turn, { since });
    const after = this.#warnAfter(turn);
    if (since + after < this.#due) this.#arm(since, after);
  }

  handlerEnded(turn: Turn): void {
    this.#running.delete(turn);
  }

  /** Stops watching, because the actor has ended. */
  close(): void {
    this.#running.clear();
    this.#timer?.cancel();
    this.#due = Number.POSITIVE_INFINITY;
  }

  /** Checks all running handlers. They share one timer, because most of them end before it runs. */
  #check(): void {
    this.#due = Number.POSITIVE_INFINITY;
    const now = this.#clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [turn, running] of [...this.#running]) {
      const taken = now - running.since;
      const warnAfter = this.#warnAfter(turn);
      if (running.warnedAt === undefined && taken >= warnAfter) {
        running.warnedAt = now;
        this.#watched.handlerSlow(this.#describe(turn, taken));
      }
      // The grace period starts at the warning. A process that was stopped or busy checks late, and its handlers could not
      // run in the meantime.
      const left = running.warnedAt === undefined ? warnAfter - taken : running.warnedAt + this.#limits.grace - now;
      if (left > 0) next = Math.min(next, left);
      else {
        this.#running.delete(turn);
        this.#watched.handlerStuck(turn, this.#describe(turn, taken));
      }
    }
    if (next !== Number.POSITIVE_INFINITY) this.#arm(now, next);
  }

  #arm(now: number, ms: number): void {
    this.#timer?.cancel();
    this.#due = now + ms;
    this.#timer = this.#clock.after(ms, () => this.#check());
  }

  #warnAfter({ handler }: Turn): number {
    return handler.endpoint.timeout ?? this.#limits.warn;
  }

  #describe(turn: Turn, taken: number): string {
    const waits = turn.outstandingCalls.map(({ label }) => label);
    const where =
      waits.length === 0 ? "it awaits something that is no call" : `it waits for the answer of ${waits.join(", ")}`;
    const { name } = turn.caller;
    const endpoint = `${this.#watched.name}.${turn.handler.endpoint.name}`;
    return `${endpoint}, which ${name} has sent, has been running for ${Math.round(taken)} ms: ${where}`;
  }
}
