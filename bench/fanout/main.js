/**
 * `npm run bench:fanout`: one call that carries the record to 8 and to 64 processes, and all their small answers, one
 * round after the other; against process.send, grpc-js and raw sockets. Not pinned: all processes share all cores.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, runJson, setUpAddon, takeTurns } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const peers = ["limit", "viceroy", "viceroy-memory", "process-send-json", "process-send-advanced", "grpc-js"];
/** In milliseconds, by processes: each of many gets few messages, and all peers their time to get fast. */
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
  const samples = await takeTurns(subjects, options);
  return { title: `${workers} processes`, samples, table: compare(samples, { reference: "limit", columns }) };
}
