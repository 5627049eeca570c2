/** Compares pools: empty tasks, many in flight, and one after the other. */
import { fileURLToPath } from "node:url";
import { compare, measureInterleaved, ratioOf, startAnswering } from "../harness/index.js";
import { number } from "../harness/table.js";

const workers = 4;
const inFlight = 1000;
const client = fileURLToPath(new URL("client.js", import.meta.url));
const isolations = { processes: "process", threads: "thread" };
const reference = "viceroy, processes";
const call = "viceroy call, processes";

/** The modules in peers/, by the names of the subjects. */
const pools = {
  processes: ["tinypool, processes", "workerpool, processes", "poolifier, processes"],
  threads: ["piscina, threads", "tinypool, threads", "workerpool, threads", "poolifier, threads"],
};
const names = [
  ...["limit, processes", "limit, threads", call, reference, "viceroy, threads"],
  ...[...pools.processes, ...pools.threads],
];

const columns = [
  { metric: "rate", title: "us for each of many", ratio: true },
  { metric: "thousands", title: "k tasks/s" },
  { metric: "cpu", title: "us CPU, caller and workers" },
  { metric: "p50", title: "p50 us, one after the other", ratio: true },
];

export async function measurePools({ options, wanted }) {
  const profile = options.quick
    ? { warmUp: 100, settling: 50, window: 100, inFlight }
    : { warmUp: 600, settling: 500, window: 500, inFlight };
  const subjects = names.filter(wanted).map((name) => ({ name, start: () => start(name, profile) }));
  if (subjects.length === 0) return [];
  const samples = await measureInterleaved(subjects, { ...options, windows: options.quick ? 1 : 3 });
  for (const sample of [...samples.values()].flat()) sample.thousands = 1000 / sample.rate;
  return [
    {
      title: `Empty tasks, ${workers} workers, ${inFlight.toLocaleString("en")} in flight`,
      samples,
      table: compare(samples, { reference, columns, subject: "pool" }),
      notes: notesOf(samples),
    },
  ];
}

async function start(name, profile) {
  const [, peer, kind] = /^(.+), (\w+)$/.exec(name);
  const module = peer.replaceAll(" ", "-");
  const command = [process.execPath, client, module, isolations[kind], String(workers), JSON.stringify(profile)];
  const { ask, stop } = await startAnswering(command);
  // The processor time is that of the window before, in which the tasks were in flight.
  let cpu;
  const measures = {
    async rate() {
      const answer = await ask("rate");
      cpu = answer.cpu;
      return answer.rate;
    },
    cpu: () => cpu,
    p50: async () => (await ask("p50")).p50,
  };
  return { metrics: Object.keys(measures), constants: {}, measure: async (metric) => measures[metric](), stop };
}

/** Compares Viceroy with the fastest pool of each kind, and one task with one call. */
function notesOf(samples) {
  const notes = [];
  for (const [kind, of] of Object.entries(pools)) {
    const ratios = of.map((name) => ({ name, ...ratioOf(samples, "rate", name, reference) }));
    const best = ratios.filter(({ median }) => median > 0).sort((a, b) => a.median - b.median)[0];
    if (best !== undefined)
      notes.push(
        `The fastest pool of ${kind} is ${best.name.split(",")[0]}, whose tasks take ${rangeOf(best)} the time of those of Viceroy.`,
      );
  }
  const latency = ratioOf(samples, "p50", reference, call);
  if (latency.median > 0) notes.push(`A task takes ${rangeOf(latency)} the time of a call, one after the other.`);
  return notes.length > 0 ? [notes.join(" ")] : [];
}

function rangeOf({ median, low, high }) {
  return `${number(median, 2)}x (${number(low, 2)}-${number(high, 2)})`;
}
