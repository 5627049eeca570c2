import { readFileSync } from "node:fs";
const { runWorld } = await import("/work/wt-replay/test/tensor/replay-world.ts");
const plan = JSON.parse(readFileSync("/tmp/plan.json", "utf8"));
const plain = await runWorld(plan, false);
const one = await runWorld(plan, true);
const i = plain.seen.findIndex((s, i) => s !== one.seen[i]);
console.log(i, plain.seen[i], one.seen[i], one.reasons);
