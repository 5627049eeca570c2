/** Takes what the program spends on each placement of a task with 10, 100 and 1,000 hosts, which are simulated: they grant leases at once. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { cacheDir, compare, runInterleaved, runJson } from "../harness/index.js";

const driver = fileURLToPath(new URL("placement-driver.js", import.meta.url));
const source = fileURLToPath(new URL("../../test/tasks/counted-hosts.ts", import.meta.url));
const runtime = fileURLToPath(new URL("../../runtime/index.ts", import.meta.url));
const abi = fileURLToPath(new URL("../../runtime/codegen/v1/index.ts", import.meta.url));
const reference = "viceroy, 10 hosts";
const columns = [
  { metric: "cpu", title: "us CPU for each placement", ratio: true },
  { metric: "heap", title: "MiB of heap at the end" },
];

export async function measureHosts({ options, wanted }) {
  const subjects = [10, 100, 1000]
    .map((hosts) => ({ name: `viceroy, ${hosts.toLocaleString("en")} hosts`, hosts }))
    .filter(({ name }) => wanted(name));
  if (subjects.length === 0) return [];
  const outfile = path.join(cacheDir("tasks"), "counted-hosts.mjs");
  await build({
    ...{ entryPoints: [source], outfile, bundle: true, platform: "node", format: "esm", logLevel: "warning" },
    define: { VICEROY_VERSION: '"0.0.0"' },
    alias: { viceroy: runtime, "viceroy/codegen/v1": abi },
    ignoreAnnotations: true,
  });
  const placements = options.quick ? 20_000 : 1_000_000;
  const run = (hosts) => () =>
    runJson([process.execPath, "--expose-gc", driver, outfile, String(hosts), String(placements)]);
  const samples = await runInterleaved(
    subjects.map(({ name, hosts }) => ({ name, run: run(hosts) })),
    options,
  );
  return [
    {
      title: `${placements.toLocaleString("en")} placements, 20 at a time, on simulated hosts`,
      samples,
      table: compare(samples, { reference, columns, subject: "hosts" }),
      notes: [
        "Each task asks a host for a worker process and gives it back. Messages are calls of functions here, and cost nothing.",
      ],
    },
  ];
}
