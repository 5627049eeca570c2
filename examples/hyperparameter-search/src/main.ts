/** Searches settings for a small network. The optional argument is a file for a chart of the search. */
import { writeFileSync } from "node:fs";
import { JobContext } from "viceroy/tasks";
import type { Settings } from "../generated/search.js";
import { chart } from "./chart.js";
import { search } from "./search.js";

const candidates: Settings[] = [];
for (const hidden of [4, 16]) {
  for (const rate of [0.0003, 0.003, 0.01, 0.03]) {
    for (const momentum of [0, 0.8]) candidates.push({ candidate: candidates.length, hidden, rate, momentum });
  }
}

await using context = await JobContext.open({ procs: 4 });
const rungs = await search(context, candidates, 4);

console.log("epochs  candidates  best                                loss   correct");
for (const rung of rungs) {
  const { settings, model } = rung[0]!;
  const best = `${settings.hidden} units, rate ${settings.rate}, momentum ${settings.momentum}`;
  const numbers = `${model.loss.toFixed(3)}  ${(100 * model.accuracy).toFixed(1)} %`;
  console.log(`${`${model.epochs}`.padStart(6)}  ${`${rung.length}`.padStart(10)}  ${best.padEnd(34)}  ${numbers}`);
}
const [, , file] = process.argv;
if (file !== undefined) writeFileSync(file, chart(rungs));
