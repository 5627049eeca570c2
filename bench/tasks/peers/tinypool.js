/** Tinypool: a pool of threads, or of processes. */
import { Tinypool } from "tinypool";

export async function start(workers, isolation) {
  const filename = new URL("functions.cjs", import.meta.url).href;
  const runtime = isolation === "process" ? "child_process" : "worker_threads";
  const pool = new Tinypool({ filename, runtime, minThreads: workers, maxThreads: workers });
  const [nothing, same] = [{ name: "nothing" }, { name: "same" }];
  return {
    nothing: () => pool.run(undefined, nothing),
    same: (n) => pool.run(n, same),
    stop: () => pool.destroy(),
  };
}
