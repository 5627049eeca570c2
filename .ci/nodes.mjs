/**
 * The built package on other versions of Node.js than the one that runs everything: the oldest that package.json names, and those
 * in use. Every entry point is loaded, the schemas are compiled, the examples run: `node .ci/nodes.mjs [20 22 24]`.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { allOf, examples, install, root, run } from "./steps.mjs";

const folder = ".ci/node";
const entries = ["", "/schema", "/codegen/v1", "/capnp/v1", "/testing", "/compiler"].map((entry) => `viceroy${entry}`);
const load = `for (const name of ${JSON.stringify(entries)}) await import(name); console.log(process.version);`;

if (process.platform !== "linux" || process.arch !== "x64") {
  console.log("skipped: other versions of Node.js (their binaries are pinned for Linux on x64)");
  process.exit(0);
}

const wanted = process.argv.slice(2);
process.exitCode = await allOf([
  () => install(folder),
  ...(wanted.length > 0 ? wanted : ["20", "22", "24"]).map(tryOn),
]);

function tryOn(version) {
  const bin = path.join(root, folder, `node_modules/node${version}/bin`);
  const node = path.join(bin, "node");
  // What it starts by name is of the same version.
  const env = { PATH: `${bin}${path.delimiter}${process.env.PATH ?? ""}` };
  const on = (cwd, ...args) => run(node, args, { env, cwd: path.join(root, cwd) });
  return () => {
    if (!existsSync(node)) {
      console.error(`cannot find Node.js ${version}: expected it at ${node}, put there by npm ci in ${folder}`);
      return 1;
    }
    return allOf([
      () => on(".", "--input-type=module", "--eval", load),
      ...examples().flatMap((example) => [
        () => on(example, path.join(root, "dist/cli/viceroy.js"), "compile", "--check"),
        () => on(".", "--import", "tsx", `${example}/src/main.ts`),
      ]),
    ]);
  };
}
