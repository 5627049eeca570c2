/**
 * Simulates clusters: `npm run sim -- --seeds 10000 [--from 1] [--workers 2]`. The sources are bundled first, which runs
 * quicker than they would one by one; each worker has its share of the seeds.
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
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    workers: { type: "string", default: String(os.availableParallelism()) },
    lines: { type: "string" },
    trace: { type: "boolean" },
    all: { type: "boolean" },
    bug: { type: "string" },
  },
});
await build({
  absWorkingDir: root,
  entryPoints: ["test/testing/main.ts"],
  outfile,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.9",
  logLevel: "warning",
  define: { VICEROY_VERSION: JSON.stringify(version) },
  alias: { viceroy: "./runtime/index.ts", "viceroy/codegen/v1": "./runtime/codegen/v1/index.ts" },
  // What is bundled is a program: importing the runtime starts it.
  ignoreAnnotations: true,
});

const seeds = Number(values.seeds);
const workers = values.trace ? 1 : Math.max(1, Math.min(Number(values.workers), seeds));
const share = Math.ceil(seeds / workers);
const passed = [];
if (values.lines !== undefined) passed.push("--lines", values.lines);
if (values.bug !== undefined) passed.push("--bug", values.bug);
if (values.all) passed.push("--all");
if (values.trace) passed.push("--trace");
const codes = await Promise.all(
  Array.from({ length: workers }, (_, i) => {
    const first = Number(values.from) + i * share;
    const count = Math.min(share, seeds - i * share);
    if (count <= 0) return 0;
    const args = [outfile, "--seeds", String(count), "--from", String(first), ...passed];
    const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
    return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
  }),
);
process.exitCode = Math.max(...codes);
