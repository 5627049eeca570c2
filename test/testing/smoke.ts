import "../../runtime/index.js";
import { thisHost, onUnhandledFault } from "../../runtime/index.js";
import { simulate } from "../../runtime/testing/index.js";
import { Counter } from "../actor/counter.js";

const t0 = performance.now();
for (const seed of [1, 1, 2, 3]) {
  const run = await simulate(
    async (sim) => {
      const faults: string[] = [];
      onUnhandledFault((f) => void faults.push(f.message));
      const procs = thisHost().spawnProcs({ gpus: 4 });
      const counters = procs.spawn("counters", Counter as never, 5) as never as any;
      await counters.ready;
      for (let i = 0; i < 100; i++) counters.increment.broadcast(1);
      const values = await counters.value.callSettled();
      await sim.sleep(10);
      return { values: [...values.values()].map((v: any) => v.value ?? String(v.reason)), now: Date.now(), faults };
    },
    { seed, place: ({ rank }) => `host${rank % 3}`, record: false , faults: seed === 3 ? { count: 3, within: 100 } : []},
  );
  console.log(JSON.stringify(run, null, 1));
}
console.log(performance.now() - t0);
