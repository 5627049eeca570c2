/** Workerpool: a pool of threads, or of processes. */
import { fileURLToPath } from "node:url";
import workerpool from "workerpool";
import functions from "./functions.cjs";

const self = fileURLToPath(import.meta.url);

export async function start(workers, isolation) {
  const workerType = isolation;
  const pool = workerpool.pool(self, { workerType, minWorkers: workers, maxWorkers: workers });
  const none = [];
  return {
    nothing: () => pool.exec("nothing", none),
    same: (n) => pool.exec("same", [n]),
    stop: () => pool.terminate(),
  };
}

if (!workerpool.isMainThread) workerpool.worker(functions);
