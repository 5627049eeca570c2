/**
 * `npm run bench:fanout`: one call that carries the record to 8 and to 64 processes, and their small answers, in sequential rounds;
 * compared with process.send, grpc-js and raw sockets. Processes are not pinned, so all of them share all cores.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson, setUpAddon } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const peers = ["limit", "viceroy", "viceroy-memory", "process-send-json", "process-send-advanced", "grpc-js"];
/** Warm-up in ms, by the number of processes. With many processes each gets few messages, and takes longer to warm up. */
const warmUps = { 4: 200, 8: 6000, 64: 30_000 };
const client = fileURLToPath(new URL("client.js", import.meta.url));
const columns = [
  { metric: "p50", title: "p50 us", ratio: true },
  { metric: "p99", title: "p99 us" },
  { metric: "perWorker", title: "us per process" },
  { metric: "cpu", title: "us CPU/round at the caller" },
];

await benchmark(
  { name: "fanout", title: "Call many processes and gather", rounds: 3, needs: ["viceroy"] },
  async (context) => {
    if (context.wanted("viceroy")) await prepareProgram();
    if (context.wanted("viceroy-memory")) setUpAddon("rdma");
    const sections = [];
    for (const workers of context.options.quick ? [4] : [8, 64]) sections.push(await measure(context, workers));
    return sections;
  },
);

async function measure({ options, workDir, wanted }, workers) {
  const subjects = peers.filter(wanted).map((name) => ({
    name,
    run: (round) => {
      const profile = { warmUp: warmUps[workers], window: options.quick ? 200 : 2000 };
      const address = path.join(workDir, `${name}-${workers}-${round}`);
      return runJson([process.execPath, client, name, address, String(workers), JSON.stringify(profile)]);
    },
  }));
  const samples = await runInterleaved(subjects, options);
  return { title: `${workers} processes`, samples, table: compare(samples, { reference: "limit", columns }) };
}
