/**
 * `npm run bench:tasks`: tasks of Viceroy, the pools of npm, and Ray. Each pool runs in a process of its own with 4 workers, verifies its
 * answers, and measures empty tasks, many in flight and one after the other. Then the benchmark creates eight actors, runs a million tasks in
 * one program, whose memory it takes in tenths of the run, places a million tasks on 10, 100 and 1,000 simulated hosts, and compares the codec of
 * plain values with those of Node.js.
 */
import { benchmark } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";
import { measureActors } from "./actors.js";
import { measureHosts } from "./hosts.js";
import { measureMemory } from "./memory.js";
import { measurePools } from "./pools.js";
import { measureValues } from "./values.js";

await benchmark({ name: "tasks", title: "Tasks", rounds: 3, needs: ["viceroy"] }, async (context) => {
  await prepareProgram();
  const sections = [];
  for (const measure of [measurePools, measureActors, measureMemory, measureHosts, measureValues]) {
    sections.push(...(await measure(context)));
  }
  return sections;
});
