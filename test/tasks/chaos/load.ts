/** Tasks and calls of actors that are kept in flight while processes are killed, with what each of them may come to. */
import { readFileSync } from "node:fs";
import { SupervisionError } from "viceroy";
import type { ActorHandle, JobContext, ObjectRef } from "viceroy/tasks";
import { expect } from "vitest";
import type { MemoryStore } from "../../contract/project/src/memory-store.js";
import * as tasks from "../../fixtures/tasks/chaos.js";
import type { Random } from "../../random.js";

/** The errors of tasks whose process, arguments or references were lost. */
const lost = ["WorkerLostError", "ObjectLostError"];

interface Started {
  readonly ref: ObjectRef<unknown>;
  /** The value that the task returns; undefined: any. */
  readonly value: unknown;
  /** The number in the file, of tasks that may run once only. */
  readonly once?: number;
  /** The task whose result is an argument. */
  readonly argument?: Started;
  cancelled?: boolean;
}

/** Actors, and the places of those that are being replaced. */
export type Stores = (ActorHandle<typeof MemoryStore> | undefined)[];

export class Load {
  readonly #context: JobContext;
  readonly #random: Random;
  readonly #file: string;
  readonly #inFlight = new Set<Started>();
  readonly #done = new Set<number>();
  #last = 0;
  readonly counts = { done: 0, failed: 0, cancelled: 0 };

  /** @param file where tasks that may run once only leave their numbers */
  constructor(context: JobContext, random: Random, file: string) {
    this.#context = context;
    this.#random = random;
    this.#file = file;
  }

  get size(): number {
    return this.#inFlight.size;
  }

  /** The names of what has not settled. */
  get pending(): string {
    const counts = new Map<string, number>();
    for (const { ref } of this.#inFlight) counts.set(ref.label, (counts.get(ref.label) ?? 0) + 1);
    return [...counts].map(([label, count]) => `${count} of ${label}`).join(", ");
  }

  /** Starts something. */
  startOne(stores: Stores): void {
    const random = this.#random;
    const context = this.#context;
    const id = ++this.#last;
    const ms = random(4) === 0 ? random(80) : 0;
    const kind = random(20);
    const store = stores[random(stores.length)];
    if (kind < 4) {
      this.#add({ ref: context.run(tasks.again, id, ms), value: id });
    } else if (kind < 6) {
      this.#add({ ref: context.run(tasks.tree, 2, 2, ms), value: 4 });
    } else if (kind < 8) {
      this.#add({ ref: context.run(tasks.add, context.run(tasks.again, id, ms), context.put(1)), value: id + 1 });
    } else if (kind < 10) {
      const box = context.run(tasks.boxed, id);
      const argument = { ref: box, value: undefined };
      this.#add(argument);
      this.#add({ ref: context.run(tasks.unboxed, box), value: id, argument });
    } else if (kind < 11) {
      this.#add({ ref: context.with({ maxCalls: 3 }).run(tasks.again, id, ms), value: id });
    } else if (kind < 13 && store !== undefined) {
      this.#callStore(store);
    } else {
      this.#add({ ref: context.run(tasks.once, this.#file, id, ms), value: id, once: id });
    }
  }

  #callStore(store: ActorHandle<typeof MemoryStore>): void {
    let ref: ObjectRef<number>;
    try {
      ref = store.amounts.run();
    } catch (error) {
      // The actor is known to have ended.
      expect(error).toBeInstanceOf(SupervisionError);
      return;
    }
    this.#add({ ref, value: 7 });
  }

  /** Cancels something that is in flight. */
  cancelOne(): void {
    const all = [...this.#inFlight];
    const started = all[this.#random(all.length)];
    if (started === undefined) return;
    started.cancelled = true;
    this.#context.cancel(started.ref);
  }

  /** Checks that nothing has run twice that may not, and that all that has a result has run. */
  checkRuns(): void {
    const runs = readFileSync(this.#file, "utf8").trim().split("\n").map(Number);
    expect(runs.filter((id, at) => runs.indexOf(id) !== at)).toEqual([]);
    const all = new Set(runs);
    expect([...this.#done].filter((id) => !all.has(id))).toEqual([]);
  }

  #add(started: Started): void {
    this.#inFlight.add(started);
    void this.#follow(started);
  }

  async #follow(started: Started): Promise<void> {
    const { ref, value, once } = started;
    const outcome = await this.#context.get(ref).then(
      (got) => ({ got }),
      (error: Error & { remoteName?: string }) => ({ error }),
    );
    this.#inFlight.delete(started);
    if ("got" in outcome) {
      this.counts.done++;
      if (once !== undefined) this.#done.add(once);
      if (value !== undefined && outcome.got !== value) this.problems.push(`${ref} returned ${String(outcome.got)}`);
      return;
    }
    const { error } = outcome;
    const names = [error.name, error.remoteName ?? ""];
    const isCancelled = started.cancelled === true || started.argument?.cancelled === true;
    if (isCancelled && names.includes("TaskCancelledError")) this.counts.cancelled++;
    else if (names.some((name) => lost.includes(name))) this.counts.failed++;
    else this.problems.push(`${ref}: ${error.stack}`);
  }

  /** What should not have happened. */
  readonly problems: string[] = [];
}
