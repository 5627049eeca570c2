/**
 * `npm run bench:monarch`: the same work with Viceroy, Monarch and Ray. The benchmark starts eight actors in processes of their own, calls
 * them sequentially, with many calls in flight, and all at once, sends 64 MiB, and kills processes. Each subject runs in namespaces of its
 * own, with loopback alone, and no process outlives the run. Monarch and Ray come from PyPI and are installed in a virtual environment in
 * the cache of the benchmarks. `--write` also updates the table of the README.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson, setUpAddon } from "../harness/index.js";
import { records } from "../rpc/records.js";
import { prepareProgram } from "../viceroy/prepare.js";
import { isolated } from "./isolated.js";
import { preparePython } from "./python.js";
import { writeReadme } from "./readme.js";

const reference = "viceroy";
const here = (file) => fileURLToPath(new URL(file, import.meta.url));

const starting = [
  { metric: "first", title: "ms until 8 new actors have answered", ratio: true },
  { metric: "program", title: "ms from the program's start" },
];
const calls = [
  { metric: "p50", title: "ms, one after the other", ratio: true },
  { metric: "k64", title: "k calls/s, 64 in flight", ratio: true },
  { metric: "k1024", title: "k calls/s, 1024 in flight", ratio: true },
  { metric: "gather", title: "ms, call 8 and gather", ratio: true },
];
const others = [
  { metric: "bulk", title: "ms, 64 MiB there and back", ratio: true },
  { metric: "killed", title: "ms from SIGKILL to the caller's error", ratio: true },
];

await benchmark(
  { name: "monarch", title: "Viceroy, Monarch and Ray", rounds: 5, needs: ["viceroy"] },
  async ({ options, workDir, wanted }) => {
    if (wanted("viceroy")) await prepareProgram();
    if (wanted("viceroy, memory")) setUpAddon("rdma");
    const { python, versions } = preparePython();
    const file = path.join(workDir, "records.json");
    writeFileSync(file, JSON.stringify(records));
    const profile = options.quick
      ? { actors: 8, warmUp: 200, window: 200, bulk: 2, kills: 1 }
      : { actors: 8, warmUp: 1500, window: 1000, bulk: 7, kills: 3 };
    const args = [JSON.stringify(profile), file];
    const driver = [process.execPath, here("driver.js"), ...args];
    const peer = (name) => [python, here(`python/${name}_peer.py`), ...args];
    const commands = {
      viceroy: [driver, { VICEROY_LINKS: "socket" }],
      "viceroy, memory": [driver, { VICEROY_LINKS: "memory" }],
      monarch: [peer("monarch"), {}],
      ray: [peer("ray"), { RAY_TMPDIR: workDir }],
    };
    const subjects = Object.entries(commands)
      .filter(([name]) => wanted(name))
      .map(([name, [command, env]]) => ({ name, run: () => runJson(isolated(command), { env }) }));
    const samples = await runInterleaved(subjects, options);
    if (options.write && options.only.length === 0) {
      const titles = { viceroy: "Viceroy", "viceroy, memory": "with the addon", monarch: "Monarch", ray: "Ray" };
      writeReadme(samples, titles);
    }
    const table = (columns) => compare(samples, { reference, columns, subject: "system" });
    return [
      { title: "Start 8 actors, each in a process of its own", samples, table: table(starting) },
      { title: "Calls that carry a record of twelve fields", samples, table: table(calls) },
      { title: "64 MiB, and a process that is killed", samples, table: table(others), notes: [versions] },
    ];
  },
);
