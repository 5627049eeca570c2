/**
 * `npm test`: runs the tests with the installed packages and programs. It installs nothing and prints the names of the
 * tests that it skips. Arguments are passed to vitest.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { missingPeers } from "./peers.mjs";
import { node, root, step } from "./steps.mjs";
import { printEnd, runTests } from "./tests.mjs";
import { hasTensorAddon } from "./torch.mjs";

const has = (file) => existsSync(path.join(root, file));

if (!has("node_modules/vitest")) {
  console.error("cannot run the tests: expected the development dependencies to be installed, got none; run npm ci");
  process.exit(1);
}
if (!(await step("build", () => node("build.mjs")))) process.exit(1);

function hasRdmaAddon() {
  const { load } = createRequire(import.meta.url)("../dist/load.cjs");
  return load().rdma.rdmaSupport().addon !== undefined;
}

/** The tests that are always skipped here, and the command that runs them. */
const skipped = [["test/package/pack.test.ts", "installs packages from the registry; npm run verify runs it"]];
const args = process.argv.slice(2);
const { code, passed, failed, failures } = await runTests([
  ...skipped.flatMap(([file]) => ["--exclude", file]),
  ...args,
]);
for (const [file, why] of skipped) console.log(`skipped: ${file} (${why})`);
for (const name of missingPeers()) console.log(`skipped: tests that need ${name} (run npm run peers to install it)`);
if (!hasRdmaAddon())
  console.log("skipped: one-sided memory (run node dist/cli/viceroy.js setup --rdma to build its addon)");
if (!hasTensorAddon())
  console.log(
    "skipped: tensors (install libtorch, and run node dist/cli/viceroy.js setup --tensor to build their addon)",
  );
printEnd(passed, failed, failures);
process.exit(code);
