/** Poolifier: a pool of threads, or of processes of node:cluster. */
import { fileURLToPath } from "node:url";
import { FixedClusterPool, FixedThreadPool } from "poolifier";

export async function start(workers, isolation) {
  const Pool = isolation === "process" ? FixedClusterPool : FixedThreadPool;
  const pool = new Pool(workers, fileURLToPath(new URL("poolifier-worker.cjs", import.meta.url)));
  return {
    nothing: () => pool.execute(undefined, "nothing"),
    same: (n) => pool.execute(n, "same"),
    stop: () => pool.destroy(),
  };
}
