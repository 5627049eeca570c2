/**
 * `npm run bench:rpc`: a call that carries a record of twelve fields to another process and back, compared with the peers and with
 * the limit. `viceroy-memory` is the same program with links in shared memory, which it uses when the addon has been built. Client and
 * server are pinned to two cores, then to one core, on the Node.js that runs the benchmark and on Node.js 24. Erlang is measured where it
 * is installed (`apt-get install erlang-base`).
 */
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, canPin, compare, node24, pinned, runInterleaved, runJson, setUpAddon } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";
import { generatePeerCode } from "./prepare.js";

const reference = "limit";
const peers = [
  "limit",
  "viceroy",
  "viceroy-memory",
  "child-process-json",
  "child-process-advanced",
  "zeromq",
  "capnweb",
  "connect-node",
  "grpc-js",
  "erlang",
];
const erlang = fileURLToPath(new URL("erlang/measure.js", import.meta.url));
const client = fileURLToPath(new URL("client.js", import.meta.url));

const columns = [
  { metric: "p50", title: "p50 us", ratio: true },
  { metric: "p99", title: "p99 us", ratio: true },
  { metric: "k64", title: "k calls/s, 64 in flight", ratio: true },
  { metric: "k1024", title: "k calls/s, 1024 in flight", ratio: true },
  { metric: "cpuClient", title: "us CPU/call client" },
  { metric: "cpuServer", title: "us CPU/call server" },
];

await benchmark(
  { name: "rpc", title: "Calls between two processes", rounds: 3, needs: ["viceroy"], subjects: peers },
  async (context) => {
    generatePeerCode();
    if (context.wanted("viceroy")) await prepareProgram();
    if (context.wanted("viceroy-memory")) setUpAddon("rdma");
    const { quick } = context.options;
    if (context.wanted("erlang") && !hasErlang()) console.error("skipped: erlang (erl is not installed)");
    const sections = [];
    for (const [version, node] of nodes(quick)) {
      for (const placement of placements(quick)) sections.push(await measure(context, version, node, placement));
    }
    return sections;
  },
);

async function measure({ options, workDir, wanted }, version, node, { title, clientCpus, serverCpus }) {
  const profile = options.quick
    ? { warmUp: 150, window: 200, sequential: 100 }
    : { warmUp: 700, window: 500, sequential: 500 };
  const present = peers.filter((name) => wanted(name) && (name !== "erlang" || hasErlang()));
  const subjects = present.map((name) => ({
    name,
    run: (round) => {
      if (name === "erlang") {
        return runJson(pinned(clientCpus, [node, erlang, serverCpus ?? "", JSON.stringify(profile)]));
      }
      const address = path.join(workDir, `${name}-${version}-${serverCpus}-${round}`);
      const command = [node, client, name, address, serverCpus ?? "", JSON.stringify(profile)];
      return runJson(pinned(clientCpus, command));
    },
  }));
  const samples = await runInterleaved(subjects, options);
  return { title: `Node.js ${version}, ${title}`, samples, table: compare(samples, { reference, columns }) };
}

function hasErlang() {
  return spawnSync("erlc", ["--version"], { stdio: "ignore" }).error === undefined;
}

function nodes(quick) {
  const here = [process.versions.node, process.execPath];
  if (quick || here[0].startsWith("24.")) return [here];
  const other = node24();
  return other === undefined ? [here] : [here, ["24", other]];
}

function placements(quick) {
  const one = { title: "both processes on one core", clientCpus: "0", serverCpus: "0" };
  const two = { title: "each process on a core of its own", clientCpus: "0", serverCpus: "1" };
  if (!canPin()) return [{ title: "not pinned (no taskset here)" }];
  return quick || availableParallelism() < 2 ? [one] : [two, one];
}
