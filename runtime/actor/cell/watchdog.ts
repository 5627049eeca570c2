/**
 * The watchdog of one actor: notices handlers that take longer than they may while the event loop goes on, says what they
 * wait for, and in the end has the actor fail. A handler that never gives the event loop back is noticed elsewhere.
 */
import type { Clock, Timer } from "../../link/clock.js";
import type { WatchLimits } from "../reference/actor-request.js";
import type { Turn } from "./turn.js";

export interface WatchedActor {
  /** For people: `counters[1]`. */
  readonly name: string;
  /** A handler takes long. */
  handlerSlow(message: string): void;
  /** A handler has taken too long. */
  handlerStuck(turn: Turn, message: string): void;
}

interface RunningHandler {
  readonly since: number;
  /** When was warned of it. */
  warnedAt?: number;
}

export class Watchdog {
  readonly #watched: WatchedActor;
  readonly #limits: WatchLimits;
  readonly #clock: Clock;
  readonly #running = new Map<Turn, RunningHandler>();
  #timer: Timer | undefined;
  /** When the timer ends. */
  #due = Number.POSITIVE_INFINITY;

  constructor(watched: WatchedActor, limits: WatchLimits, clock: Clock) {
    this.#watched = watched;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** A handler has been called, and goes on. Producers of streams wait for their consumers and are not watched. */
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

  /** The actor has come to its end. */
  close(): void {
    this.#running.clear();
    this.#timer?.cancel();
    this.#due = Number.POSITIVE_INFINITY;
  }

  /** One timer for all handlers: most end before anybody has to look. */
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
      // Counted from the warning: a process that was stopped, or busy, looks late, and its handlers could not go on either.
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
