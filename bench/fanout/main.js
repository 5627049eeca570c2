/**
 * `npm run bench:fanout`: one call that carries the record to 8 and to 64 processes, and their small answers, in sequential rounds;
 * compared with process.send, grpc-js and raw sockets. Processes are not pinned, so all of them share all cores. With
 * `-- --processes 8` only the calls to 8 processes are measured, whose warm-ups take a fifth of the time of those of 64.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson, setUpAddon } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const peers = ["limit", "viceroy", "viceroy-memory", "process-send-json", "process-send-advanced", "grpc-js"];
/** Returns the warm-up in ms. Of many processes each gets few messages, and takes longer to warm up. */
const warmUpOf = (workers) => Math.min(workers * 750, 30_000);
const client = fileURLToPath(new URL("client.js", import.meta.url));
const columns = [
  { metric: "p50", title: "p50 us", ratio: true },
  { metric: "p99", title: "p99 us" },
  { metric: "perWorker", title: "us per process" },
  { metric: "cpu", title: "us CPU/round at the caller" },
];

await benchmark(
  {
    name: "fanout",
    title: "Call many processes and gather",
    rounds: 3,
    needs: ["viceroy"],
    subjects: peers,
    sizes: { option: "processes", all: [8, 64], quick: [4] },
  },
  async (context) => {
    if (context.wanted("viceroy")) await prepareProgram();
    if (context.wanted("viceroy-memory")) setUpAddon("rdma");
    const sections = [];
    for (const workers of context.options.sizes) sections.push(await measure(context, workers));
    return sections;
  },
);

async function measure({ options, workDir, wanted }, workers) {
  const subjects = peers.filter(wanted).map((name) => ({
    name,
    run: (round) => {
      const profile = options.quick ? { warmUp: 200, window: 200 } : { warmUp: warmUpOf(workers), window: 2000 };
      const address = path.join(workDir, `${name}-${workers}-${round}`);
      return runJson([process.execPath, client, name, address, String(workers), JSON.stringify(profile)]);
    },
  }));
  const samples = await runInterleaved(subjects, options);
  return { title: `${workers} processes`, samples, table: compare(samples, { reference: "limit", columns }) };
}
