/** Piscina: a pool of threads. */
import { Piscina } from "piscina";

export async function start(workers) {
  const filename = new URL("functions.cjs", import.meta.url).href;
  const pool = new Piscina({ filename, minThreads: workers, maxThreads: workers });
  const [nothing, same] = [{ name: "nothing" }, { name: "same" }];
  return {
    nothing: () => pool.run(undefined, nothing),
    same: (n) => pool.run(n, same),
    stop: () => pool.destroy(),
  };
}
