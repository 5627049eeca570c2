/**
 * `npm run bench:links`: the round trip over a link between two processes of one host, over shared memory and over a Unix socket,
 * compared with the bare rings of the addon and a bare socket of Node.js.
 */
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import {
  benchmark,
  cacheDir,
  canPin,
  compare,
  measureInterleaved,
  pinned,
  repository,
  setUpAddon,
  startAnswering,
} from "../harness/index.js";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const subjects = {
  ring: "bare ring of the addon",
  memory: "link over shared memory",
  net: "bare net.Socket",
  socket: "link over a Unix socket",
};
/** Makes each address unique, because ended subjects leave their sockets behind. */
let started = 0;
const columns = [{ metric: "p50", title: "us per round trip, median", ratio: true }];

await benchmark(
  { name: "links", title: "Links between processes of one host", rounds: 3, needs: ["viceroy"] },
  async (context) => {
    setUpAddon("rdma");
    // Below node_modules: the addon's sources are searched for in the parent folders of the bundle.
    const bundle = path.join(cacheDir("links"), "ends.mjs");
    await build({
      entryPoints: [file("ends.ts")],
      outfile: bundle,
      bundle: true,
      platform: "node",
      format: "esm",
      absWorkingDir: repository,
    });
    const sections = [];
    for (const placement of placements(context.options.quick)) sections.push(await measure(context, bundle, placement));
    return sections;
  },
);

async function measure({ options, workDir, wanted }, bundle, { title, clientCpus, serverCpus }) {
  const running = Object.entries(subjects)
    .filter(([kind]) => wanted(kind))
    .map(([kind, name]) => ({
      name,
      start: () => start(kind, path.join(workDir, `${kind}-${process.pid}-${started++}`)),
    }));
  const start = async (kind, address) => {
    const env = [`VICEROY_LINKS=${kind === "memory" || kind === "ring" ? "memory" : "socket"}`];
    const command = [process.execPath, file("client.js"), bundle, kind, address, serverCpus ?? ""];
    const client = await startAnswering(["env", ...env, ...pinned(clientCpus, command)]);
    return {
      metrics: ["p50"],
      constants: {},
      measure: () => client.ask("1000"),
      stop: () => client.stop(),
    };
  };
  const samples = await measureInterleaved(running, { ...options, windows: options.quick ? 2 : 40 });
  return { title, samples, table: compare(samples, { reference: subjects.ring, columns }) };
}

function placements(quick) {
  const one = { title: "Both processes on one core", clientCpus: "0", serverCpus: "0" };
  const two = { title: "Each process on a core of its own", clientCpus: "0", serverCpus: "1" };
  if (!canPin()) return [{ title: "Not pinned (no taskset here)" }];
  return quick || availableParallelism() < 2 ? [one] : [two, one];
}
