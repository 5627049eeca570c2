import { thisHost } from "viceroy";
import "../generated/registry.js";
import { MemoryCounter } from "./memory-counter.js";

await using procs = thisHost().spawnProcs({ gpus: 4 });
const counters = procs.spawn("counters", MemoryCounter, 3);
counters.increment.broadcast(1);
const values = await counters.value.call(); // ValueMesh<number, "gpus">
console.log(values.toTable());
const one = await counters.slice({ gpus: 0 }).value.callOne(); // 4
console.log(`the counter of the first process: ${one}`);
for await (const [point, v] of counters.watch.stream(2)) console.log(point.toString(), v);
