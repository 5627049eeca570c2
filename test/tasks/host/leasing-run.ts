/** A leasing whose worker processes are objects, and whose time is a number. */
import type { HostOptions, LeaseNotice, LeaseRequest } from "../../../generated/tasks.js";
import { Allocations } from "../../../runtime/tasks/host/allocations.js";
import { Bundles } from "../../../runtime/tasks/host/bundles.js";
import { Leasing } from "../../../runtime/tasks/host/leasing.js";
import type { MemoryExceeded } from "../../../runtime/tasks/host/memory-guard.js";
import type { WorkerProcess, WorkerStart } from "../../../runtime/tasks/host/ports.js";
import { amountsOf } from "../../../runtime/tasks/host/resources.js";

/** A worker process that has started as soon as it is asked for, unless `start` is called by the test. */
export class FakeProcess implements WorkerProcess<number> {
  readonly id: number;
  readonly order: WorkerStart | undefined;
  readonly ready: Promise<number>;
  readonly canBeKilled: boolean;
  start!: (error?: Error) => void;
  state: "runs" | "killed" | "stopped" = "runs";
  used = 0;
  /** What has happened to a process whose end nobody has reported. */
  lost: string | undefined;
  limit: number | undefined;
  exceeded: MemoryExceeded = () => {};
  /** The last order of each lease whose task has begun; undefined: it is not known. */
  begun: Map<number, number> | undefined;

  constructor(id: number, order?: WorkerStart) {
    this.id = id;
    this.order = order;
    this.canBeKilled = order !== undefined;
    this.ready = new Promise((resolve, reject) => {
      this.start = (error) => (error === undefined ? resolve(id) : reject(error));
    });
  }

  kill(): void {
    this.state = "killed";
  }

  async stop(): Promise<void> {
    this.state = "stopped";
  }

  /** Leases whose tasks run until the test resolves them. */
  readonly busy = new Map<number, Promise<void>>();

  async endLease(lease: number): Promise<void> {
    await this.busy.get(lease);
  }

  async findEnd(): Promise<string | undefined> {
    return this.lost;
  }

  lastBegun(lease: number): number | undefined {
    return this.begun?.get(lease) ?? (this.begun && 0);
  }

  memoryUse(): number {
    return this.used;
  }

  limitMemory(bytes: number | undefined, exceeded: MemoryExceeded): void {
    this.limit = bytes;
    this.exceeded = exceeded;
  }
}

export class FakeHost {
  now = 0;
  readonly processes: FakeProcess[] = [];
  readonly notices: (LeaseNotice & { readonly holder: bigint })[] = [];
  readonly allocations: Allocations;
  readonly leasing: Leasing<number>;
  readonly bundles: Bundles;
  /** Whether processes start by themselves. */
  startsAtOnce = true;
  #lastRequest = 0;
  #timers: { readonly at: number; readonly call: () => void }[] = [];

  constructor(resources: Record<string, number>, procs: number, options: Partial<HostOptions> = {}, given = 0) {
    const now = () => this.now;
    this.allocations = new Allocations({ total: amountsOf(resources), workers: given || procs, now });
    const fixed = Array.from({ length: given }, (_, i) => new FakeProcess(i + 1));
    this.processes.push(...fixed);
    for (const process of fixed) process.start();
    this.leasing = new Leasing(
      { host: 0, procs, isolation: "process", environment: { env: {} }, ...options },
      this.allocations,
      {
        start: (order) => {
          const process = new FakeProcess(order.id, order);
          this.processes.push(process);
          if (this.startsAtOnce) process.start();
          return process;
        },
        notify: (holder, notice) => void this.notices.push({ ...notice, holder }),
      },
      fixed,
    );
    this.bundles = new Bundles(this.allocations, {
      host: 0,
      after: (milliseconds, call) => {
        const timer = { at: this.now + milliseconds, call };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((one) => one !== timer);
        };
      },
      evict: (place, reason) => this.leasing.evict(place, reason),
    });
  }

  request(resources: Record<string, number> = { cpus: 1 }, rest: Partial<LeaseRequest> = {}): LeaseRequest {
    return { holder: 1n, number: ++this.#lastRequest, label: "square", fresh: false, resources, ...rest };
  }

  lease(resources?: Record<string, number>, rest?: Partial<LeaseRequest>) {
    return this.leasing.lease(this.request(resources, rest));
  }

  /** Lets time pass. */
  async pass(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    const due = this.#timers.filter(({ at }) => at <= this.now);
    this.#timers = this.#timers.filter(({ at }) => at > this.now);
    for (const { call } of due) call();
    await settled();
  }

  /** A process ends. */
  end(process: FakeProcess, reason: string): void {
    this.leasing.ended(process.id, reason);
  }
}

/** Resolves when everything that could go on has gone on. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Returns whether a promise is pending. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true;
  const end = () => {
    pending = false;
  };
  promise.then(end, end);
  await settled();
  return pending;
}
