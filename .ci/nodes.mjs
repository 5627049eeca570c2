/**
 * Runs the examples and the built package with several versions of Node.js: the current one, the oldest that
 * package.json names, and those in use. Each version loads every entry point, compiles the schemas and runs the
 * examples: `node .ci/nodes.mjs [20 22 24]`.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { examples, install, root, told } from "./steps.mjs";

const folder = ".ci/node";
const entries = [
  "",
  "/schema",
  "/codegen/v1",
  "/capnp/v1",
  "/rdma",
  "/tensor",
  "/gateway",
  "/testing",
  "/compiler",
].map((entry) => `viceroy${entry}`);
const load = `for (const name of ${JSON.stringify(entries)}) await import(name);`;

/** Returns the versions to run: the path of the executable, and a label. */
async function versions() {
  const own = { name: `Node.js ${process.version}`, node: process.execPath };
  if (process.platform !== "linux" || process.arch !== "x64") {
    console.log("skipped: other versions of Node.js (their binaries are pinned for Linux on x64)");
    return [own];
  }
  const code = await install(folder);
  if (code !== 0) throw new Error(`cannot install other versions of Node.js: npm ci in ${folder} ended with ${code}`);
  const wanted = process.argv.slice(2);
  const others = (wanted.length > 0 ? wanted : ["20", "22", "24"]).map((version) => {
    const node = path.join(root, folder, `node_modules/node${version}/bin/node`);
    if (existsSync(node)) return { name: `Node.js ${version} of ${folder}`, node };
    throw new Error(`cannot find Node.js ${version}: expected it at ${node}, put there by npm ci in ${folder}`);
  });
  return [own, ...others];
}

/** The runs of one version, each as `[folder, ...arguments]`. */
const runs = [
  [".", "--input-type=module", "--eval", load],
  ...examples().flatMap((example) => [
    [example, path.join(root, "dist/cli/viceroy.js"), "compile", "--check"],
    [".", "--import", "tsx", `${example}/src/main.ts`],
  ]),
];

/**
 * Runs as many versions at a time as there are processors. Runs of one version are sequential, because examples can
 * write the same files.
 */
async function runAll(wanted) {
  let failed = 0;
  const waiting = [...wanted];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      for (const [cwd, ...args] of runs) if (!(await succeeds(next, cwd, args))) failed++;
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, worker));
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
}
