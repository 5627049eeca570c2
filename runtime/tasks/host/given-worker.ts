/** A worker process that the program has started. The host neither kills it nor limits its memory. */
import type { TaskWorkerMesh, WorkerOptions } from "../../../generated/tasks.js";
import type { WorkerProcess } from "./ports.js";

export class GivenWorker implements WorkerProcess<TaskWorkerMesh<never>> {
  readonly ready: Promise<TaskWorkerMesh<never>>;
  readonly canBeKilled = false;

  constructor(worker: TaskWorkerMesh<never>, options: Promise<WorkerOptions>) {
    this.ready = options.then((configuration) => worker.configure.callOne(configuration)).then(() => worker);
  }

  kill(): void {}

  async stop(): Promise<void> {}

  memoryUse(): undefined {
    return undefined;
  }

  limitMemory(): void {}
}
