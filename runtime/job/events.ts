/** The events of a job, and the feed that passes them to any number of readers. */

import { MAX_TIMER_MS } from "../link/clock.js";

/**
 * What happens to a job:
 *
 * - `pending`: the scheduler has not started the job; `reason` is the scheduler's own.
 * - `starting`: the scheduler has started the job, and its hosts are not up yet.
 * - `running`: all hosts of the job, or one host, are up.
 * - `host-lost`: a host has ended or does not answer.
 * - `host-replaced`: a host that was lost is up again, possibly on another machine.
 * - `warned`: the job will be ended soon: its time limit, or preemption.
 * - `ended`: the job is over. No event follows.
 */
export type JobEventKind = "pending" | "starting" | "running" | "host-lost" | "host-replaced" | "warned" | "ended";

/** One event of a job. */
export interface JobEvent {
  /** What has happened. */
  readonly kind: JobEventKind;
  /** The mesh of the host, if the event is about one host. */
  readonly mesh?: string;
  /** The rank of the host in its mesh, if the event is about one host. */
  readonly rank?: number;
  /** Why, in the words of the scheduler where it has any. */
  readonly reason: string;
  /** The time in milliseconds since 1970. */
  readonly at: number;
}

/** Maximum number of events that a reader has not read. The oldest is dropped then. */
const maxUnread = 1000;

/** Passes the events of a job to readers. A new reader first gets the last event. */
export class EventFeed {
  readonly #readers = new Set<EventReader>();
  #last: JobEvent | undefined;

  add(event: JobEvent): void {
    const last = this.#last;
    // A scheduler is asked again and again, and gives the same answer each time.
    if (last?.kind === "pending" && event.kind === "pending" && last.reason === event.reason) return;
    if (last?.kind === "ended") return;
    this.#last = event;
    for (const reader of this.#readers) reader.add(event);
  }

  /** Starts over, for the next run of the job. Readers of the last run have ended. */
  restart(): void {
    this.#last = undefined;
  }

  /** Ends all readers, because this program has left the job. */
  leave(): void {
    for (const reader of this.#readers) reader.add(undefined);
  }

  /** Reads the events until the job has ended, or the reader leaves the loop. */
  async *read(): AsyncGenerator<JobEvent, void> {
    const reader = new EventReader();
    if (this.#last !== undefined) reader.add(this.#last);
    this.#readers.add(reader);
    try {
      for (;;) {
        const event = await reader.next();
        if (event === undefined) return;
        yield event;
        if (event.kind === "ended") return;
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

class EventReader {
  readonly #unread: (JobEvent | undefined)[] = [];
  #wake: (() => void) | undefined;

  /** @param event undefined for the end of the feed */
  add(event: JobEvent | undefined): void {
    this.#unread.push(event);
    if (this.#unread.length > maxUnread) this.#unread.shift();
    this.#wake?.();
  }

  async next(): Promise<JobEvent | undefined> {
    // A program that waits for an event goes on, even if it has nothing else to do.
    const held = this.#unread.length === 0 ? setInterval(() => {}, MAX_TIMER_MS) : undefined;
    while (this.#unread.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    clearInterval(held);
    return this.#unread.shift();
  }
}
