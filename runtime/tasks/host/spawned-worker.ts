/** A worker process that the host has started: a proc with one actor that runs tasks. */
import type { TaskWorkerMesh, WorkerOptions } from "../../../generated/tasks.js";
import { type Isolation, type ProcMesh, thisHost } from "../../index.js";
import { prepareEnvironment } from "../environment/index.js";
import { type ProcessGuard, processGuard } from "../kernel.js";
import { slotIn, type WorkerObjects } from "../objects/context-objects.js";
import type { UsageRecord } from "../objects/usage-record.js";
import { PoolWorker } from "../worker/pool-worker.js";
import { BegunRecord } from "./begun-record.js";
import { environmentOf, killMarked, markPrefix, newMark, untilKilled } from "./left-processes.js";
import type { MemoryExceeded, MemoryGuard } from "./memory-guard.js";
import { memoryUse } from "./memory-use.js";
import type { WorkerProcess, WorkerStart } from "./ports.js";

/** The parts that all worker processes of a host share. */
export interface WorkerContext {
  readonly isolation: Isolation;
  /** Returns the first message for each worker. */
  readonly options: () => Promise<WorkerOptions>;
  /** Runs code that spawns processes and sends messages, as code of the manager of the host. */
  readonly inTurn: <T>(body: () => T) => T;
  /** Limits the memory of the processes; undefined: the host has no memory to assign. */
  readonly memory: MemoryGuard | undefined;
  /** The record in which the processes write how much their large values use. */
  readonly objects: UsageRecord | undefined;
  /** Called when the process has been stopped. */
  readonly stopped: () => void;
}

type Worker = TaskWorkerMesh<never>;

export class SpawnedWorker implements WorkerProcess<Worker> {
  readonly ready: Promise<Worker>;
  /** The name of the meshes of the process and of its actor. */
  readonly name: string;
  readonly #context: WorkerContext;
  #procs: ProcMesh<never> | undefined;
  /** The id of the process; undefined for threads and inline workers. */
  #pid: number | undefined;
  readonly #mark = newMark();
  #limit: { readonly bytes: number; readonly exceeded: MemoryExceeded } | undefined;
  #isEnded = false;
  #begun: BegunRecord | undefined;
  #objects: WorkerObjects = {};

  constructor(name: string, start: WorkerStart, context: WorkerContext) {
    this.name = name;
    this.#context = context;
    this.ready = this.#start(start);
  }

  get canBeKilled(): boolean {
    return this.#context.isolation !== "inline";
  }

  kill(): void {
    this.#isEnded = true;
    for (const backend of this.#procs?.backends ?? []) backend.kill();
  }

  async stop(): Promise<void> {
    this.#isEnded = true;
    this.limitMemory(undefined, () => {});
    await this.#procs?.stop({ reason: "no task needs it any more", drain: 0 });
    this.closeRecord();
    this.#context.stopped();
    await untilKilled();
  }

  /** Ends what is left of a process that has failed. No task begins in it afterwards. */
  async end(): Promise<void> {
    if (!this.canBeKilled) return;
    this.kill();
    await Promise.all((this.#procs?.backends ?? []).map(({ exited }) => exited));
  }

  async endLease(lease: number): Promise<void> {
    const worker = await this.ready;
    await this.#context.inTurn(() => worker.endLease.callOne(lease));
  }

  async findEnd(): Promise<undefined> {}

  lastBegun(lease: number): number | undefined {
    return this.#begun?.lastBegun(lease);
  }

  /** The process has ended. Nothing is known of the tasks that have begun afterwards, and its values use nothing. */
  closeRecord(): void {
    this.#begun?.close();
    const { objectSlot } = this.#objects;
    if (objectSlot !== undefined) this.#context.objects?.free(objectSlot);
    this.#objects = {};
  }

  memoryUse(): number | undefined {
    const pid = this.#pid;
    return pid === undefined ? undefined : memoryUse(new Set([pid])).get(pid);
  }

  limitMemory(bytes: number | undefined, exceeded: MemoryExceeded): void {
    this.#limit = bytes === undefined ? undefined : { bytes, exceeded };
    if (this.#pid !== undefined) this.#context.memory?.limit(this.#pid, bytes, exceeded);
  }

  #guard(memory: MemoryGuard | undefined): ProcessGuard {
    return {
      groups: memory?.groups,
      mark: markPrefix,
      started: (pid) => {
        this.#pid = pid;
        memory?.started(pid);
        if (this.#limit !== undefined) memory?.limit(pid, this.#limit.bytes, this.#limit.exceeded);
      },
      ended: (pid) => {
        killMarked(this.#mark);
        if (memory?.ended(pid) !== true) return undefined;
        this.#limit?.exceeded(undefined);
        return "it needed more memory than its limit";
      },
    };
  }

  async #start({ environment, gpus, after }: WorkerStart): Promise<Worker> {
    const { isolation, inTurn, options, memory } = this.#context;
    await after;
    const own = isolation === "process" ? environmentOf(this.#mark) : {};
    const env =
      isolation === "inline"
        ? {}
        : { env: { ...(await prepareEnvironment(environment)), ...visibleGpus(gpus), ...own } };
    const configuration = await options();
    this.#checkRuns();
    const worker = inTurn(() => {
      // Code that shares the process of the host does not end without it.
      if (isolation !== "inline")
        this.#begun = BegunRecord.make(configuration.context, `viceroy-${configuration.context}-${this.name}`);
      const guard = isolation === "process" ? { [processGuard]: this.#guard(memory) } : {};
      this.#procs = thisHost().spawnProcs({}, { name: this.name, isolation, ...guard, ...env });
      return this.#procs.spawn(this.name, PoolWorker);
    });
    const begun = this.#begun === undefined ? {} : { begunFile: this.#begun.path };
    this.#objects = slotIn(this.#context.objects);
    await inTurn(() => worker.configure.callOne({ ...configuration, ...begun, ...this.#objects }));
    return worker;
  }

  #checkRuns(): void {
    if (this.#isEnded) throw new Error("its worker process was ended before it had started");
  }
}

/** Returns the environment variable by which CUDA gives a process the GPUs with these indices. */
export function visibleGpus(gpus: readonly number[] | undefined): Record<string, string> {
  if (gpus === undefined) return {};
  // The host itself may see some of the GPUs of the machine only.
  const visible = process.env["CUDA_VISIBLE_DEVICES"]?.split(",").map((device) => device.trim());
  return { CUDA_VISIBLE_DEVICES: gpus.map((index) => visible?.[index] ?? String(index)).join() };
}
