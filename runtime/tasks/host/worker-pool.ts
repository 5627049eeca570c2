/**
 * Decides which worker process a lease gets. A lease gets a process that has its environment and its GPUs. Processes whose tasks
 * all wait for others take another lease if no other process is free, and if they do not suit it, one more process is started: so tasks
 * that wait for others never keep these from running.
 */

/** The worker process of a lease. */
export interface Placement {
  readonly worker: number;
  /** Whether the worker process must be started first. */
  readonly isNew: boolean;
  /** A worker process that must end before. */
  readonly replaces: number | undefined;
}

interface PooledWorker {
  readonly id: number;
  readonly key: string;
  /** Whether it has been started for one lease only. */
  readonly isFresh: boolean;
  /** The leases, and whether they are suspended. */
  readonly leases: Map<number, boolean>;
  /** Whether it is being killed. It gets no more leases. */
  isEnding: boolean;
}

export class WorkerPool {
  /** The number of processes for tasks that do not wait for others. */
  #procs: number;
  readonly #workers = new Map<number, PooledWorker>();
  readonly #workerOf = new Map<number, PooledWorker>();
  #lastId = 0;

  constructor(procs: number) {
    this.#procs = procs;
  }

  /** The number of processes. */
  get size(): number {
    return this.#workers.size;
  }

  /** The numbers of the processes. */
  get ids(): number[] {
    return [...this.#workers.keys()];
  }

  /** Adds a process that was started by others. */
  add(key: string): number {
    return this.#add(key, false).id;
  }

  /**
   * Chooses the process of a lease.
   *
   * @param key a text that is equal for leases that can use the same processes
   * @param isFresh whether the process is started for this lease, and ends after it
   * @param isUsable whether an idle process can take the lease
   */
  place(lease: number, key: string, isFresh: boolean, isUsable: (worker: number) => boolean = () => true): Placement {
    const found = isFresh ? undefined : this.#findIdle((worker) => worker.key === key && isUsable(worker.id));
    if (found !== undefined) return this.#put(lease, found);
    if (this.#workers.size < this.#procs) return this.#start(lease, key, isFresh, undefined);
    const other = this.#findIdle(() => true);
    if (other !== undefined) {
      this.#workers.delete(other.id);
      return this.#start(lease, key, isFresh, other.id);
    }
    const shared = isFresh ? undefined : this.#findSuspended(key);
    return shared === undefined ? this.#start(lease, key, isFresh, undefined) : this.#put(lease, shared);
  }

  /** Ends a lease. Returns the process if it is not needed any more; it does not belong to the pool then. */
  leave(lease: number): number | undefined {
    const worker = this.#workerOf.get(lease);
    if (worker === undefined) return undefined;
    this.#workerOf.delete(lease);
    worker.leases.delete(lease);
    if (worker.leases.size > 0 || !(worker.isFresh || this.#workers.size > this.#procs)) return undefined;
    this.#workers.delete(worker.id);
    return worker.id;
  }

  suspend(lease: number): void {
    this.#workerOf.get(lease)?.leases.set(lease, true);
  }

  resume(lease: number): void {
    this.#workerOf.get(lease)?.leases.set(lease, false);
  }

  /** Returns the process of a lease. */
  workerOf(lease: number): number | undefined {
    return this.#workerOf.get(lease)?.id;
  }

  /** Returns the leases of a process. */
  leasesOf(worker: number): number[] {
    return [...(this.#workers.get(worker)?.leases.keys() ?? [])];
  }

  /** A process is being killed. */
  end(worker: number): void {
    const found = this.#workers.get(worker);
    if (found !== undefined) found.isEnding = true;
  }

  /**
   * Removes a process that has ended. Returns its leases, which belong to no process then.
   *
   * @param isReplaced whether another process may be started instead
   */
  lost(worker: number, isReplaced = true): number[] {
    const leases = this.leasesOf(worker);
    if (!isReplaced && this.#workers.has(worker)) this.#procs--;
    this.#workers.delete(worker);
    for (const lease of leases) this.#workerOf.delete(lease);
    return leases;
  }

  #findIdle(suits: (worker: PooledWorker) => boolean): PooledWorker | undefined {
    for (const worker of this.#workers.values())
      if (worker.leases.size === 0 && !worker.isEnding && suits(worker)) return worker;
    return undefined;
  }

  #findSuspended(key: string): PooledWorker | undefined {
    for (const worker of this.#workers.values()) {
      if (worker.key !== key || worker.isFresh || worker.isEnding) continue;
      if ([...worker.leases.values()].every((isSuspended) => isSuspended)) return worker;
    }
    return undefined;
  }

  #start(lease: number, key: string, isFresh: boolean, replaces: number | undefined): Placement {
    const worker = this.#add(key, isFresh);
    return { ...this.#put(lease, worker), isNew: true, replaces };
  }

  #put(lease: number, worker: PooledWorker): Placement {
    worker.leases.set(lease, false);
    this.#workerOf.set(lease, worker);
    return { worker: worker.id, isNew: false, replaces: undefined };
  }

  #add(key: string, isFresh: boolean): PooledWorker {
    const worker = { id: ++this.#lastId, key, isFresh, leases: new Map<number, boolean>(), isEnding: false };
    this.#workers.set(worker.id, worker);
    return worker;
  }
}
