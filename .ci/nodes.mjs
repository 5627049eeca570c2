/**
 * Runs the examples and the built package with other versions of Node.js than the one with which the tests run them: the
 * oldest that package.json names, and those in use. Each version loads every entry point, compiles Viceroy's own
 * schemas and runs the examples: `node .ci/nodes.mjs [--at-a-time 2] [20 22 24]`, where `--at-a-time` is the number of versions
 * that run at a time, by default the number of processors.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { examples, hasOtherNodes, install, otherNode, otherNodes, root, told } from "./steps.mjs";

const entries = [
  "",
  "/schema",
  "/codegen/v1",
  "/capnp/v1",
  "/rdma",
  "/job",
  "/tasks",
  "/tensor",
  "/gateway",
  "/testing",
  "/compiler",
].map((entry) => `viceroy${entry}`);
const load = `for (const name of ${JSON.stringify(entries)}) await import(name);`;

const { values, positionals } = parseArgs({
  options: { "at-a-time": { type: "string", default: `${Math.max(2, availableParallelism())}` } },
  allowPositionals: true,
});

/** Returns the versions to run: the path of the executable, and a label. */
async function versions() {
  if (!hasOtherNodes) {
    console.log("skipped: other versions of Node.js (their binaries are pinned for Linux on x64)");
    return [];
  }
  const code = await install(otherNodes);
  if (code !== 0) {
    throw new Error(`cannot install other versions of Node.js: npm ci in ${otherNodes} ended with ${code}`);
  }
  return (positionals.length > 0 ? positionals : ["20", "22", "24"]).map((version) => {
    const node = otherNode(version);
    if (existsSync(node)) return { name: `Node.js ${version} of ${otherNodes}`, version, node };
    throw new Error(`cannot find Node.js ${version}: expected it at ${node}, put there by npm ci in ${otherNodes}`);
  });
}

/** The files that examples write. */
const scratch = mkdtempSync(path.join(tmpdir(), "viceroy-nodes-"));

/** Returns the arguments of examples that need some. Those that use other machines run on this one. */
const argumentsOf = (version) => ({
  "examples/external-sort": ["package-lock.json", path.join(scratch, `sorted-${version}`), "--memory", "1MiB"],
  "examples/kubernetes": ["--local"],
  "examples/skypilot": ["--local"],
  "examples/slurm": ["--local"],
  "examples/ssh": ["--local"],
});

/** Returns the runs of one version, each as `[folder, ...arguments]`. */
function runsOf(version) {
  const given = argumentsOf(version);
  return [
    [".", "--input-type=module", "--eval", load],
    [".", path.join(root, "dist/cli/viceroy.js"), "compile", "--check"],
    ...examples().map((example) => [".", "--import", "tsx", `${example}/src/main.ts`, ...(given[example] ?? [])]),
  ];
}

/**
 * Runs several versions at a time. Runs of one version are sequential, because examples can write the same files.
 */
async function runAll(wanted) {
  let failed = 0;
  const waiting = [...wanted];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      for (const [cwd, ...args] of runsOf(next.version)) if (!(await succeeds(next, cwd, args))) failed++;
    }
  };
  await Promise.all(Array.from({ length: Number(values["at-a-time"]) }, worker));
  return failed;
}

async function succeeds({ name, node }, cwd, args) {
  // Programs that a run starts by name get the same version of Node.js.
  const env = { PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ""}` };
  const { code, text, seconds } = await told(node, args, { env, cwd: path.join(root, cwd) });
  const what =
    args.at(-1) === load ? "every entry point" : `${cwd === "." ? "" : `${cwd} `}${args.slice(-2).join(" ")}`;
  console.log(`${code === 0 ? "ok" : `FAILED with code ${code}`}, ${seconds} s: ${name}: ${what}`);
  if (code !== 0) console.log(text);
  return code === 0;
}

try {
  process.exitCode = (await runAll(await versions())) === 0 ? 0 : 1;
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
