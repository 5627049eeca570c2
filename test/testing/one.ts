import "../../runtime/index.js";
import { simulate } from "../../runtime/testing/index.js";
import { cluster, options } from "./cluster.js";
const from = Number(process.argv[2] ?? 1), to = Number(process.argv[3] ?? from);
const t0 = performance.now(); let del = 0, min = 1e9;
let bad = 0;
for (let seed = from; seed <= to; seed++) {
  try {
    const run = await simulate(cluster, { ...options, seed, record: from === to });
    del += run.value.deliveries; min = Math.min(min, run.value.deliveries);
    if (from === to) console.log(run.hash, run.value, run.arrivals, run.ms, run.faults.map((f) => `${f.kind} ${f.did}`));
  } catch (e) { bad++; console.log(String(e).slice(0, 600)); if (from === to) console.log((e as any).cause?.stack, (e as any).lines.slice(-Number(process.argv[4] ?? 80)).join("\n"), (e as any).faults); }
}
console.log({ bad, avg: del / (to - from + 1), min, perSecond: (to - from + 1) / ((performance.now() - t0) / 1000) });
