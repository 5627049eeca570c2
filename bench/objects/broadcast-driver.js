/** The driver of the benchmark of hosts: prints a line of JSON for each round. */
import { attachHosts } from "viceroy";
import { JobContext } from "viceroy/tasks";
import * as tasks from "./tasks.js";

const { addresses, rounds, bytes } = JSON.parse(process.argv[2]);
const hosts = attachHosts(addresses, { timeout: 60_000, silence: 60_000 });
const context = await JobContext.open({ hosts, procs: 1, resources: { cpus: 1 } });
const group = await context.placementGroup(
  addresses.map(() => ({ cpus: 1 })),
  { strategy: "strictSpread" },
);
const runners = addresses.map((_, bundle) => context.with({ placement: group.slice({ bundles: bundle }) }));

/** Returns the seconds in which tasks of some hosts read a new value. */
async function read(readers) {
  const ref = context.put(new Uint8Array(bytes).fill(1));
  const start = performance.now();
  await context.get(readers.map((runner) => runner.run(tasks.first, ref)));
  const seconds = (performance.now() - start) / 1000;
  ref.release();
  return seconds;
}

// All worker processes start before anything is measured.
await context.get(runners.map((runner) => runner.run(tasks.first, new Uint8Array(1))));
for (let round = 0; round < rounds; round++) {
  const one = await read([runners[round % runners.length]]);
  const all = await read(runners);
  console.log(JSON.stringify({ one, all }));
}
await context.close();
await hosts.stop();
