import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { world } from "./replay-plans-tmp.js";
import { runWorld } from "./replay-world.js";

let replayed = 0;
const t0 = Date.now();
await fc.assert(
  fc.asyncProperty(world, async (plan) => {
    writeFileSync("/tmp/plan.json", JSON.stringify(plan));
    const plain = await runWorld(plan, false);
    const one = await runWorld(plan, true);
    replayed += one.replayed;
    const i = plain.seen.findIndex((s, i) => s !== one.seen[i]);
    if (i >= 0) throw new Error(`${i}: ${plain.seen[i]} != ${one.seen[i]}`);
    if (one.tensors !== plain.tensors) throw new Error(`tensors ${plain.tensors} ${one.tensors}`);
  }),
  { numRuns: Number(process.argv[2] ?? 150), ...(process.argv[3] ? { seed: Number(process.argv[3]) } : {}) },
);
console.log(replayed, "replayed", Date.now() - t0, "ms");
