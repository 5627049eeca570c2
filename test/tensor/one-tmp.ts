import { readFileSync } from "node:fs";
import { runWorld } from "./replay-world.js";

const plan = JSON.parse(readFileSync("/tmp/plan.json", "utf8"));
for (let k = 0; k < 3; k++) {
  const plain = await runWorld(plan, false);
  const one = await runWorld(plan, true);
  const i = plain.seen.findIndex((s, i) => s !== one.seen[i]);
  console.log(i, plain.seen[i], one.seen[i], one.reasons, one.replayed, plain.tensors, one.tensors);
}
