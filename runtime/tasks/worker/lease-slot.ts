/**
 * The tasks of one lease in a worker process. One of them runs at a time. A task that waits for a result lets the next one
 * begin; when all tasks wait, the host may give the resources to other leases until one goes on.
 */

/** A task that has not ended. */
export interface SlotTask {
  readonly id: number;
  /** Starts the task, and calls {@link LeaseSlot.ended} later. */
  start(): void;
  /** Answers that the task has not begun. */
  handBack(): void;
  /** Cancels the task. */
  cancel(): void;
}

/** The host, as a slot uses it. */
export interface SlotHost {
  suspend(): void;
  resume(): void;
  /** Calls `task` later, when the event loop has handled what it has now. */
  later(task: () => void): void;
}

export class LeaseSlot {
  readonly #host: SlotHost;
  readonly #queue: SlotTask[] = [];
  /** The first task that has begun and has not ended, and the others: most leases have no others, and a map would make garbage. */
  #begun: SlotTask | undefined;
  readonly #alsoBegun = new Map<number, SlotTask>();
  readonly #whenIdle: (() => void)[] = [];
  #running = 0;
  #suspended = 0;
  #isReported = false;
  #isChecking = false;
  #isStarting = false;

  constructor(host: SlotHost) {
    this.#host = host;
  }

  /** Whether no task has been started that has not ended. */
  get isEmpty(): boolean {
    return this.#queue.length === 0 && this.#hasNoneBegun;
  }

  get #hasNoneBegun(): boolean {
    return this.#begun === undefined && this.#alsoBegun.size === 0;
  }

  add(task: SlotTask): void {
    if (this.#running > 0 || this.#queue.length > 0) this.#queue.push(task);
    else this.#start(task);
  }

  /** The tasks that have not begun are handed back. */
  takeBack(): void {
    for (const task of this.#queue.splice(0)) task.handBack();
  }

  cancel(id: number): void {
    const at = this.#queue.findIndex((task) => task.id === id);
    if (at >= 0) this.#queue.splice(at, 1)[0]!.cancel();
    else if (this.#begun?.id === id) this.#begun.cancel();
    else this.#alsoBegun.get(id)?.cancel();
  }

  /** Cancels all tasks. Resolves when none of them runs. */
  async end(): Promise<void> {
    for (const task of this.#queue.splice(0)) task.cancel();
    this.#begun?.cancel();
    for (const task of this.#alsoBegun.values()) task.cancel();
    if (this.#hasNoneBegun) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle.push(resolve);
    });
  }

  /** A task that runs begins to wait. */
  suspend(): void {
    this.#running--;
    this.#suspended++;
    this.#next();
    this.#reportLater();
  }

  /** A task that waited goes on, also if another one runs. */
  resume(): void {
    this.#suspended--;
    this.#running++;
    if (!this.#isReported) return;
    this.#isReported = false;
    this.#host.resume();
  }

  /** A task that ran has ended. */
  ended(id: number): void {
    if (this.#begun?.id === id) this.#begun = undefined;
    else this.#alsoBegun.delete(id);
    this.#running--;
    if (this.#whenIdle.length > 0 && this.#hasNoneBegun) for (const idle of this.#whenIdle.splice(0)) idle();
    this.#next();
    // The tasks that are left may all wait.
    this.#reportLater();
  }

  /** Tells the host that all tasks wait, if they still do a moment later: many results are there by then. */
  #reportLater(): void {
    if (this.#isReported || this.#isChecking || this.#running > 0 || this.#suspended === 0) return;
    this.#isChecking = true;
    this.#host.later(() => {
      this.#isChecking = false;
      if (this.#running > 0 || this.#suspended === 0 || this.#isReported) return;
      this.#isReported = true;
      this.#host.suspend();
    });
  }

  #next(): void {
    // A task that ends at once calls this method again: the loop that has started it goes on, and the stack stays flat.
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      while (this.#running === 0) {
        const task = this.#queue.shift();
        if (task === undefined) return;
        this.#start(task);
      }
    } finally {
      this.#isStarting = false;
    }
  }

  #start(task: SlotTask): void {
    this.#running++;
    if (this.#begun === undefined) this.#begun = task;
    else this.#alsoBegun.set(task.id, task);
    task.start();
  }
}
