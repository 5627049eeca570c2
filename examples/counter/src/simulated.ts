import { onUnhandledFault, thisHost } from "viceroy";
import { explore, type Simulation } from "viceroy/testing";
import { MemoryCounter } from "./memory-counter.js";

/** Checks that every counter that survives has received all increments, whatever faults the others have met. */
async function counting(simulation: Simulation): Promise<void> {
  onUnhandledFault(() => {});
  const procs = thisHost().spawnProcs({ gpus: 4 });
  const counters = procs.spawn("counters", MemoryCounter, 0);
  for (let i = 0; i < 50; i++) {
    counters.increment.broadcast(1);
    await simulation.sleep(2);
  }
  const values = await counters.value.callSettled();
  for (const [point, outcome] of values) {
    if (outcome.status === "fulfilled" && outcome.value !== 50) throw new Error(`${point}: ${outcome.value} of 50`);
  }
}

const finding = await explore(counting, {
  seeds: 100,
  faults: { count: 3, within: 100 },
  place: ({ rank }) => `host${rank % 2}`,
});
if (finding === undefined) console.log("all counters were right with 100 seeds");
else console.log(finding.shortestError.message, finding.shortest.faults, finding.lines.slice(-20));
