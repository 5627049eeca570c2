/**
 * Checks what imports what: layers, and files that import each other. `node .ci/layers.mjs` reads this checkout, and
 * `--tree <folder>` another one. The rules are in .ci/layers/rules.cjs.
 */
import path from "node:path";
import { parseArgs } from "node:util";
import { install, root, run } from "./steps.mjs";

const { values } = parseArgs({ options: { tree: { type: "string", default: root } } });
if ((await install(".ci/layers")) !== 0) process.exit(1);
const folders = ["compiler", "generated", "native", "runtime", "schemas", "shared"];
process.exitCode = await run(
  process.execPath,
  [
    path.join(root, ".ci/layers/node_modules/dependency-cruiser/bin/dependency-cruise.mjs"),
    ...["--config", path.join(root, ".ci/layers/rules.cjs"), "--output-type", "err-long"],
    ...folders,
  ],
  { cwd: path.resolve(values.tree) },
);
