/** The leases of worker processes on one host: who has which process, and what happens to leases and processes. */
import type { HostOptions, LeaseNotice, LeaseRequest, TaskEnvironment } from "../../../generated/tasks.js";
import { formatBytes } from "../../../shared/text/format-bytes.js";
import { SupervisionError } from "../../index.js";
import { mergeEnvironments } from "../environment/index.js";
import { WorkerLostError } from "../errors.js";
import type { Allocation, Allocations } from "./allocations.js";
import { placeOf } from "./bundles.js";
import { isEmptyEnvironment, keyOfEnvironment } from "./environment-key.js";
import type { LeasingPorts, WorkerProcess } from "./ports.js";
import { amountsOf, checkResources } from "./resources.js";
import { WorkerPool } from "./worker-pool.js";

/** A worker process that its holder may use. */
export interface GrantedLease<W> {
  readonly id: number;
  readonly worker: W;
  readonly gpus: number[];
}

interface LeaseRecord {
  readonly id: number;
  readonly request: LeaseRequest;
  readonly allocation: Allocation;
  readonly memory: number | undefined;
  /** Called if the lease ends before it has been answered. Undefined afterwards. */
  failed: ((error: Error) => void) | undefined;
  /** Whether others wait for what the lease has. */
  isWanted: boolean;
}

interface LeaseEnd {
  readonly mayStart?: boolean;
  readonly begun?: number | undefined;
}

export type LeasingOptions = Pick<HostOptions, "host" | "procs" | "isolation" | "environment">;

export class Leasing<W> {
  readonly #options: LeasingOptions;
  readonly #ports: LeasingPorts<W>;
  readonly #allocations: Allocations;
  readonly #pool: WorkerPool;
  readonly #isFixed: boolean;
  readonly #processes = new Map<number, WorkerProcess<W>>();
  /** The reasons for which processes are being killed, by their numbers. */
  readonly #killed = new Map<number, string>();
  readonly #leases = new Map<number, LeaseRecord>();
  /** The requests that have not been answered, by holder and number. */
  readonly #requests = new Map<string, AbortController>();
  #lastLease = 0;

  /** @param given the worker processes, if the host may start none */
  constructor(
    options: LeasingOptions,
    allocations: Allocations,
    ports: LeasingPorts<W>,
    given: readonly WorkerProcess<W>[] = [],
  ) {
    this.#options = options;
    this.#allocations = allocations;
    this.#ports = ports;
    this.#isFixed = given.length > 0;
    this.#pool = new WorkerPool(this.#isFixed ? given.length : options.procs);
    for (const process of given) this.#addProcess(this.#pool.add(""), process);
  }

  /** The number of worker processes. */
  get workerCount(): number {
    return this.#pool.size;
  }

  /**
   * Waits until a worker process and the resources are free, and the process has started.
   *
   * @param signal withdraws the request while it waits
   * @throws {ResourceUnavailableError} if the host can never have them; {@link WorkerLostError} if the process has ended while it
   *   started; the error of the start of the process
   */
  async lease(request: LeaseRequest, signal?: AbortSignal): Promise<GrantedLease<W>> {
    const failed = `cannot run ${request.label} on host ${this.#options.host}`;
    const amounts = amountsOf(checkResources(request.resources, failed));
    const environment = mergeEnvironments(this.#options.environment, request.environment);
    this.#checkProcess(request, environment, failed);
    const key = requestKey(request);
    const abort = new AbortController();
    this.#requests.set(key, abort);
    const ends = signal === undefined ? abort.signal : AbortSignal.any([signal, abort.signal]);
    let record: LeaseRecord | undefined;
    try {
      const id = ++this.#lastLease;
      const kind = [
        request.holder,
        [...amounts].join(";"),
        keyOfEnvironment(environment),
        placeOf(request),
        request.fresh,
      ].join();
      const need = { failed, kind, amounts, place: placeOf(request), usesWorker: true };
      let isWanted = false;
      const wanted = () => {
        isWanted = true;
        if (record !== undefined) this.#want(record);
      };
      const allocation = await this.#allocations.request({ ...need, wanted }, ends);
      record = { id, request, allocation, memory: amounts.get("memory"), failed: () => {}, isWanted };
      this.#leases.set(id, record);
      return await this.#start(record, environment, ends);
    } catch (error) {
      if (record !== undefined) this.#release(record);
      throw error;
    } finally {
      this.#requests.delete(key);
    }
  }

  /** Takes a request back. If it has been answered, the lease ends. */
  withdraw(holder: bigint, number: number): void {
    this.#requests.get(`${holder}/${number}`)?.abort(new Error("the request has been withdrawn"));
    for (const { id, request } of this.#leases.values()) {
      if (request.holder === holder && request.number === number) void this.giveBack(id);
    }
  }

  /** Ends a lease. An unknown number has no effect. */
  async giveBack(lease: number): Promise<void> {
    const record = this.#leases.get(lease);
    const worker = this.#pool.workerOf(lease);
    if (record === undefined) return;
    if (this.#isFixed && worker !== undefined) {
      // Holders give a lease back, too, when its process has ended.
      const end = await this.#processes.get(worker)?.findEnd();
      if (end !== undefined) this.ended(worker, end);
    }
    this.#release(record);
  }

  suspend(lease: number): void {
    this.#pool.suspend(lease);
    this.#leases.get(lease)?.allocation.suspend();
  }

  resume(lease: number): void {
    this.#pool.resume(lease);
    this.#leases.get(lease)?.allocation.resume();
  }

  /**
   * Kills the worker process of a lease. An unknown number has no effect.
   *
   * @param reason what the holders of the leases of the process are told
   * @param ifBegun the number of an order whose task must be known to have begun; 0: the process is killed in any case
   * @throws {Error} if the process cannot be killed
   */
  kill(lease: number, reason: string, ifBegun = 0): void {
    const record = this.#leases.get(lease);
    const worker = this.#pool.workerOf(lease);
    if (record === undefined || worker === undefined) return;
    const process = this.#processes.get(worker)!;
    if (ifBegun > (process.lastBegun(lease) ?? 0)) return;
    if (!process.canBeKilled) {
      const where = this.#isFixed
        ? "the program has started its worker process"
        : `the isolation is "${this.#options.isolation}"`;
      throw new Error(
        `cannot end ${record.request.label} on host ${this.#options.host}: ${where}, and only processes that the host has started can be killed`,
      );
    }
    this.#kill(worker, reason);
  }

  /** Ends the leases of a process that has ended, and the worker processes that only it has used. */
  holderEnded(holder: bigint): void {
    const workers = new Set<number>();
    for (const [key, abort] of this.#requests) {
      if (key.startsWith(`${holder}/`)) abort.abort(new Error("the process that has asked has ended"));
    }
    for (const record of [...this.#leases.values()]) {
      if (record.request.holder !== holder) continue;
      const worker = this.#pool.workerOf(record.id);
      const isAlone =
        worker !== undefined &&
        this.#pool.leasesOf(worker).every((id) => this.#leases.get(id)?.request.holder === holder);
      if (isAlone && this.#processes.get(worker)!.canBeKilled) workers.add(worker);
      else if (worker === undefined) this.#release(record);
      else void this.#releaseWhenIdle(record, worker);
    }
    // The tasks of the holder may still run, and nobody waits for them.
    for (const worker of workers) this.#kill(worker, "the process that had leased it has ended");
  }

  /** Ends all leases of a bundle, and the worker processes that run its tasks. */
  evict(place: string, reason: string): void {
    for (const record of [...this.#leases.values()]) {
      if (placeOf(record.request) !== place) continue;
      const worker = this.#pool.workerOf(record.id);
      if (worker !== undefined && this.#processes.get(worker)!.canBeKilled) this.#kill(worker, reason);
      else this.#end(record, reason);
    }
  }

  /** To be called when a worker process has ended without being stopped. @param reason what has happened to it */
  ended(worker: number, reason: string): void {
    this.#ended(worker, reason, true);
  }

  /** @param mayStart whether another process may be able to start, if this one has not */
  #ended(worker: number, reason: string, mayStart: boolean): void {
    const process = this.#processes.get(worker);
    if (process === undefined) return;
    this.#processes.delete(worker);
    const killed = this.#killed.get(worker);
    const told = killed ?? reason;
    this.#killed.delete(worker);
    if (this.#isFixed) this.#allocations.removeWorker();
    for (const lease of this.#pool.lost(worker, !this.#isFixed)) {
      const record = this.#leases.get(lease);
      if (record === undefined) continue;
      this.#end(record, told, { mayStart: mayStart || killed !== undefined, begun: process.lastBegun(lease) });
    }
  }

  #checkProcess(request: LeaseRequest, environment: TaskEnvironment, failed: string): void {
    const { isolation } = this.#options;
    if (this.#isFixed && request.fresh) {
      throw new Error(`${failed}: it needs a process of its own, and the program has started the worker processes`);
    }
    const isOwn = request.environment !== undefined && !isEmptyEnvironment(environment);
    if (isOwn && this.#isFixed)
      throw new Error(`${failed}: it has an environment, and the program has started the worker processes`);
    if (isolation === "inline" && !isEmptyEnvironment(environment)) {
      throw new Error(`${failed}: it has an environment, and the isolation "inline" has only that of the program`);
    }
  }

  /** Puts a lease that has been granted on a worker process, and waits until that has started. */
  async #start(record: LeaseRecord, environment: TaskEnvironment, signal: AbortSignal): Promise<GrantedLease<W>> {
    signal.throwIfAborted();
    const failed = new Promise<never>((_, reject) => {
      record.failed = reject;
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    const process = this.#place(record, environment);
    // The failure of a start ends all leases of the process, this one included.
    const worker = await Promise.race([process.ready.catch(() => failed), failed]);
    record.failed = undefined;
    if (record.isWanted) this.#want(record);
    return { id: record.id, worker, gpus: [...record.allocation.share.gpus] };
  }

  #place(record: LeaseRecord, environment: TaskEnvironment): WorkerProcess<W> {
    const { id, request, allocation, memory } = record;
    const isInline = this.#options.isolation === "inline";
    const gpus = this.#isFixed || isInline || !this.#allocations.total.get("gpus") ? undefined : allocation.share.gpus;
    const key = this.#isFixed || isInline ? "" : `${gpus?.join() ?? ""};${keyOfEnvironment(environment)}`;
    // A process with much memory of earlier tasks would leave a task too little of its own.
    const isUsable = (idle: number) =>
      memory === undefined || (this.#processes.get(idle)!.memoryUse() ?? 0) <= memory / 2;
    const { worker, isNew, replaces } = this.#pool.place(id, key, request.fresh, isUsable);
    if (isNew) {
      const after = replaces === undefined ? undefined : this.#stop(replaces);
      const started = this.#ports.start({ id: worker, environment, gpus, after });
      this.#addProcess(worker, started);
    }
    this.#limitMemory(worker);
    return this.#processes.get(worker)!;
  }

  /** Asks the holder to give a lease back. It does not know the lease before the answer to its request. */
  #want(record: LeaseRecord): void {
    record.isWanted = true;
    if (record.failed !== undefined) return;
    this.#ports.notify(record.request.holder, { lease: record.id, kind: "wanted", reason: "" });
  }

  #addProcess(worker: number, process: WorkerProcess<W>): void {
    this.#processes.set(worker, process);
    process.ready.catch((error: Error) => this.#ended(worker, error.message, error instanceof SupervisionError));
  }

  /**
   * A lease ends through the host.
   *
   * @param mayStart whether another process may be able to start, if that of the lease has not. Default: true
   * @param begun the number of the last order whose task has begun. Default: it is not known
   */
  #end(record: LeaseRecord, reason: string, { mayStart = true, begun }: LeaseEnd = {}): void {
    this.#release(record);
    const { id, request, failed } = record;
    if (failed === undefined) {
      const notice: LeaseNotice = { lease: id, kind: "ended", reason };
      if (begun !== undefined) notice.begun = begun;
      this.#ports.notify(request.holder, notice);
      return;
    }
    const text = `cannot run ${request.label} on host ${this.#options.host}: ${reason}`;
    failed(mayStart ? new WorkerLostError(request.label, text) : new Error(text));
  }

  #release({ id, allocation }: LeaseRecord): void {
    if (!this.#leases.delete(id)) return;
    const worker = this.#pool.workerOf(id);
    const unneeded = this.#pool.leave(id);
    if (unneeded !== undefined) {
      void this.#stop(unneeded).then(() => allocation.release());
      return;
    }
    if (worker !== undefined) this.#limitMemory(worker);
    allocation.release();
  }

  /** The tasks of a lease whose holder has ended use its resources until they have ended, too. */
  async #releaseWhenIdle(record: LeaseRecord, worker: number): Promise<void> {
    // When the process ends, so do its leases.
    await this.#processes
      .get(worker)
      ?.endLease(record.id)
      .catch(() => {});
    this.#release(record);
  }

  #stop(worker: number): Promise<void> {
    const process = this.#processes.get(worker)!;
    this.#processes.delete(worker);
    return process.stop();
  }

  #kill(worker: number, reason: string): void {
    this.#killed.set(worker, reason);
    this.#pool.end(worker);
    this.#processes.get(worker)!.kill();
  }

  /** Lets a process have the memory of its leases. Leases without a limit make it unlimited. */
  #limitMemory(worker: number): void {
    const process = this.#processes.get(worker);
    if (process === undefined) return;
    const records = this.#pool.leasesOf(worker).map((id) => this.#leases.get(id)!);
    const limits = records.map(({ memory }) => memory);
    const isLimited = limits.length > 0 && limits.every((limit) => limit !== undefined);
    const limit = isLimited ? limits.reduce<number>((sum, bytes) => sum + bytes!, 0) : undefined;
    process.limitMemory(limit, (used) => {
      const labels = records.map(({ request }) => request.label).join(" and ");
      this.#kill(worker, `${labels} ${excess(used, limit!, records.length)}; run it with more memory`);
    });
  }
}

/** Describes how some tasks have exceeded their limit, after their names. */
function excess(used: number | undefined, limit: number, tasks: number): string {
  const [was, they, have] = tasks === 1 ? ["was", "it", "has"] : ["were", "they", "have"];
  const given = formatBytes(limit);
  return used === undefined
    ? `${was} killed by the system when ${they} needed more memory than the ${given} that ${they} ${have}`
    : `used ${formatBytes(used)} of memory, and ${have} ${given}`;
}

function requestKey({ holder, number }: LeaseRequest): string {
  return `${holder}/${number}`;
}
