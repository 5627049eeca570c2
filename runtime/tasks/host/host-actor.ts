/** The manager of one host, as an actor: it leases worker processes to those who submit tasks. */
import {
  type ActorOrder,
  type ActorPlaced,
  type HeldForActor,
  type HostLoad,
  type HostOptions,
  type Lease,
  type LeaseNotice,
  type LeaseRequest,
  type ObjectEntry,
  TaskHostActor,
  type TaskWorkerMesh,
  type WorkerOptions,
} from "../../../generated/tasks.js";
import { context, type Isolation, type MeshFailure } from "../../index.js";
import type { ActorProcesses } from "../actors/actor-processes.js";
import { acquireFor, actorsOfHost, environmentFor } from "../actors/actors-of-host.js";
import {
  currentCell,
  mainClock,
  NoMessageTurn,
  ownMachineId,
  runInTurn,
  runWithoutStorage,
  UNKNOWN_MACHINE,
} from "../kernel.js";
import { closeRecord, openRecord, usageOf } from "../objects/context-objects.js";
import type { UsageRecord } from "../objects/usage-record.js";
import { Allocations } from "./allocations.js";
import { Bundles } from "./bundles.js";
import { GivenWorker } from "./given-worker.js";
import { Leasing } from "./leasing.js";
import { makeMemoryGuard } from "./make-memory-guard.js";
import type { MemoryGuard } from "./memory-guard.js";
import { Notices } from "./notices.js";
import type { LeasingPorts, WorkerStart } from "./ports.js";
import { amountsOf, checkResources, resourcesOf } from "./resources.js";
import { SpawnedWorker, type WorkerContext } from "./spawned-worker.js";

type Worker = TaskWorkerMesh<never>;

export class HostManager extends TaskHostActor {
  readonly #options: HostOptions;
  readonly #notices = new Notices();
  /** Undefined: the host has no memory to assign. */
  readonly #memory: MemoryGuard | undefined;
  readonly #allocations: Allocations;
  readonly #bundles: Bundles;
  readonly #leasing: Leasing<Worker>;
  readonly #actors: ActorProcesses;
  /** The worker processes that the host has started, by the names of their meshes. */
  readonly #workers = new Map<string, { readonly id: number; readonly process: SpawnedWorker }>();
  /** Frees what is held for detached actors of this host, by their numbers in the context. */
  readonly #heldForDetached = new Map<bigint, () => void>();
  readonly #cell = currentCell();
  #workerOptions: Promise<WorkerOptions> | undefined;
  /** The use of memory and disk by large values. Undefined: they are in the heaps of the processes. */
  readonly #objects: UsageRecord | undefined;

  static {
    // A program whose own actors and tasks are all in other processes has the manager of its host. Promises cost it less without storage.
    const endpoints = ["lease", "withdraw", "giveBack", "suspend", "resume", "kill", "notices", "load", "objects"];
    runWithoutStorage(HostManager, endpoints);
  }

  constructor(options: HostOptions) {
    super();
    this.#options = options;
    const total = amountsOf(checkResources(options.resources, `cannot manage host ${options.host}`));
    this.#objects = openRecord(options.context, options.objects ?? { whenFull: "wait" });
    if (total.has("memory") && options.isolation === "process") this.#memory = makeMemoryGuard();
    const given = options.workers.map((worker) => new GivenWorker(worker, this.#configuration(), this.#objects));
    const workers = given.length > 0 ? given.length : options.procs;
    const clock = mainClock();
    const now = () => clock.now();
    this.#allocations = new Allocations({ total, workers, now });
    const after = (milliseconds: number, call: () => void) => {
      const timer = clock.after(milliseconds, call);
      return () => timer.cancel();
    };
    const ports: LeasingPorts<Worker> = {
      start: (order) => this.#startWorker(order),
      notify: (holder, notice) => this.#notices.send(holder, notice),
    };
    this.#leasing = new Leasing(options, this.#allocations, ports, given);
    this.#actors = actorsOfHost({
      ...{ options, allocations: this.#allocations, memory: this.#memory },
      inTurn: (body) => this.#inTurn(body),
    });
    this.#bundles = new Bundles(this.#allocations, {
      host: options.host,
      after,
      evict: (place, reason) => this.#leasing.evict(place, reason),
    });
  }

  async lease(request: LeaseRequest): Promise<Lease> {
    if (!this.#notices.has(request.holder)) {
      throw new Error(
        `cannot run ${request.label} on host ${this.#options.host}: process ${request.holder} does not read its notices`,
      );
    }
    return this.#leasing.lease(request, context().signal);
  }

  withdraw(holder: bigint, number: number): void {
    this.#leasing.withdraw(holder, number);
  }

  giveBack(lease: number): Promise<void> {
    return this.#leasing.giveBack(lease);
  }

  suspend(lease: number): void {
    this.#leasing.suspend(lease);
  }

  resume(lease: number): void {
    this.#leasing.resume(lease);
  }

  kill(lease: number, reason: string, ifBegun = 0): void {
    this.#leasing.kill(lease, reason, ifBegun);
  }

  notices(holder: bigint): AsyncGenerator<LeaseNotice, void> {
    return this.#notices.listen(holder, context().signal, () => this.#leasing.holderEnded(holder));
  }

  load(): HostLoad {
    return {
      total: resourcesOf(this.#allocations.total),
      free: resourcesOf(this.#allocations.free),
      waiting: this.#allocations.waitingCount,
      workers: this.#leasing.workerCount,
      ...(this.#objects !== undefined && { objects: usageOf(this.#objects) }),
      ...(this.#objects !== undefined && ownMachineId() !== UNKNOWN_MACHINE && { machine: ownMachineId() }),
    };
  }

  async objects(): Promise<ObjectEntry[]> {
    const started = [...this.#workers.values()].map(({ process }) => process.ready);
    const workers = [...this.#options.workers.map((worker) => Promise.resolve(worker)), ...started];
    const entries = workers.map(async (ready) => {
      const worker = await ready;
      return this.#inTurn(() => worker.objects.callOne());
    });
    const settled = await Promise.allSettled(entries);
    return settled.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  }

  reserve(group: bigint, bundle: number, resources: Record<string, number>, timeout: number): Promise<boolean> {
    return this.#bundles.reserve(group, bundle, resources, timeout);
  }

  async unreserve(group: bigint): Promise<void> {
    const reason = "its placement group was removed";
    await Promise.all([this.#actors.endGroup(group, reason), this.#bundles.unreserve(group)]);
  }

  startActor(order: ActorOrder): Promise<ActorPlaced> {
    return this.#actors.start(order, context().signal);
  }

  stopActor(id: bigint, reason: string, drain: number): Promise<void> {
    return this.#actors.stop(id, { reason, drain });
  }

  actorLives(id: bigint): boolean {
    return this.#actors.lives(id);
  }

  async hold(order: ActorOrder): Promise<HeldForActor> {
    const parts = { options: this.#options, allocations: this.#allocations };
    const { gpus, release } = await acquireFor(parts, order, context().signal);
    try {
      const env = await environmentFor(parts, order, gpus);
      this.#heldForDetached.set(order.id, release);
      return { gpus: [...gpus], env };
    } catch (error) {
      release();
      throw error;
    }
  }

  keep(id: bigint, resources: Record<string, number>, gpus: number[]): void {
    this.#heldForDetached.set(id, this.#allocations.keep(`actor ${id}`, { amounts: amountsOf(resources), gpus }));
  }

  release(id: bigint): void {
    this.#heldForDetached.get(id)?.();
    this.#heldForDetached.delete(id);
  }

  /** A worker process has ended. Its leases end, and another process is started when it is needed. */
  override async supervise(failure: MeshFailure): Promise<boolean> {
    const worker = this.#workers.get(failure.mesh);
    if (worker === undefined) {
      this.#actors.supervise(failure);
      return true;
    }
    this.#workers.delete(failure.mesh);
    // The actor may have failed alone. Its process is of no use then, and must not begin tasks that run elsewhere.
    await worker.process.end();
    this.#leasing.ended(worker.id, failure.cause.message);
    await worker.process.stop();
    return true;
  }

  override cleanup(): void {
    this.#memory?.close();
    for (const { process } of this.#workers.values()) process.closeRecord();
    if (this.#objects !== undefined) closeRecord(this.#options.context);
  }

  #startWorker(order: WorkerStart): SpawnedWorker {
    const name = `task-worker-${this.#options.host}-${order.id}`;
    const shared: WorkerContext = {
      isolation: this.#options.isolation as Isolation,
      options: () => this.#configuration(),
      inTurn: (body) => this.#inTurn(body),
      memory: this.#memory,
      objects: this.#objects,
      stopped: () => this.#workers.delete(name),
    };
    const process = new SpawnedWorker(name, order, shared);
    this.#workers.set(name, { id: order.id, process });
    return process;
  }

  /** Returns what each worker is told first. The root knows the mesh of this actor. */
  #configuration(): Promise<WorkerOptions> {
    this.#workerOptions ??= this.#findHost();
    return this.#workerOptions;
  }

  async #findHost(): Promise<WorkerOptions> {
    const { context, root, host: hostIndex, objects } = this.#options;
    const { hosts } = await this.#inTurn(() => root.describe.callOne());
    const { host, store } = hosts[hostIndex]!;
    return { context, root, hostIndex, host, store, ...(objects !== undefined && { objects }) };
  }

  /** Runs code outside of the message that is being handled: it goes on when the caller of the message has ended. */
  #inTurn<T>(body: () => T): T {
    return runInTurn(new NoMessageTurn(this.#cell), body) as T;
  }
}
