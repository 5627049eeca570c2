/** A worker process that the program has started. The host neither kills it nor limits its memory. */
import type { TaskWorkerMesh, WorkerOptions } from "../../../generated/tasks.js";
import { slotIn } from "../objects/context-objects.js";
import type { UsageRecord } from "../objects/usage-record.js";
import type { WorkerProcess } from "./ports.js";

export class GivenWorker implements WorkerProcess<TaskWorkerMesh<never>> {
  readonly ready: Promise<TaskWorkerMesh<never>>;
  readonly canBeKilled = false;
  readonly #worker: TaskWorkerMesh<never>;

  /** @param objects the record in which the worker writes how much its large values use */
  constructor(worker: TaskWorkerMesh<never>, options: Promise<WorkerOptions>, objects: UsageRecord | undefined) {
    this.#worker = worker;
    this.ready = options
      .then((configuration) => worker.configure.callOne({ ...configuration, ...slotIn(objects) }))
      .then(() => worker);
  }

  kill(): void {}

  async stop(): Promise<void> {}

  async endLease(lease: number): Promise<void> {
    await this.#worker.endLease.callOne(lease);
  }

  /** Asks the worker something that has no effect: only the owner of a mesh is told of its failures. */
  async findEnd(): Promise<string | undefined> {
    try {
      await this.#worker.takeBack.callOne(0);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** The process may go on although this one cannot reach it. */
  lastBegun(): undefined {
    return undefined;
  }

  memoryUse(): undefined {
    return undefined;
  }

  limitMemory(): void {}
}
