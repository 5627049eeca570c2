/**
 * Simulates clusters, and with `--workload` contexts with `tasks`, the `returns` of lost hosts or drivers that reach hosts `through` gateways: `npm run sim -- --seeds 10000 [--from 1] [--workers 2]`. The sources are bundled first, which
 * runs faster than loading them separately. Each worker gets a part of the seeds. `npm run sim -- --planted` prints the
 * seed that finds each planted bug (test/testing/planted-bugs.ts). Each worker then gets a part of the bugs.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const { version } = createRequire(import.meta.url)("../package.json");
const outfile = path.join(root, ".viceroy/sim.mjs");

const { values } = parseArgs({
  options: {
    seeds: { type: "string" },
    from: { type: "string", default: "1" },
    workers: { type: "string", default: String(os.availableParallelism()) },
    lines: { type: "string" },
    trace: { type: "boolean" },
    all: { type: "boolean" },
    bug: { type: "string" },
    planted: { type: "boolean" },
    workload: { type: "string", default: "cluster" },
  },
});
await build({
  absWorkingDir: root,
  entryPoints: ["test/testing/run-simulations.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.9",
  logLevel: "warning",
  define: { VICEROY_VERSION: JSON.stringify(version) },
  alias: { viceroy: "./runtime/index.ts", "viceroy/codegen/v1": "./runtime/codegen/v1/index.ts" },
  // The bundle is a program that must run the side effects of imports: importing the runtime starts it.
  ignoreAnnotations: true,
});

const seeds = Number(values.seeds ?? (values.planted ? 1000 : 100));
const workers = values.trace ? 1 : Math.max(1, Math.min(Number(values.workers), seeds));
const share = values.planted ? seeds : Math.ceil(seeds / workers);
const passed = ["--workload", values.workload];
if (values.lines !== undefined) passed.push("--lines", values.lines);
if (values.bug !== undefined) passed.push("--bug", values.bug);
if (values.all) passed.push("--all");
if (values.trace) passed.push("--trace");
const codes = await Promise.all(
  Array.from({ length: workers }, (_, i) => {
    const skipped = values.planted ? 0 : i * share;
    const count = Math.min(share, seeds - skipped);
    if (count <= 0) return 0;
    const args = [outfile, "--seeds", String(count), "--from", String(Number(values.from) + skipped), ...passed];
    if (values.planted) args.push("--planted", "--share", `${i}/${workers}`);
    const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
    return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
  }),
);
process.exitCode = Math.max(...codes);
