/**
 * Runs most benchmarks in sequence, with equal arguments. `node bench/main.js --quick` verifies in a minute or two that each of them
 * runs and that all peers give equal answers.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const names = [
  "codec",
  "protobuf",
  "rpc",
  "fanout",
  "cast",
  "hosts",
  "attach",
  "detect",
  "spawn",
  "map",
  "compile",
  "memory",
];
const failed = names.filter((name) => {
  process.stdout.write(`\n# ${name}\n\n`);
  const main = fileURLToPath(new URL(`${name}/main.js`, import.meta.url));
  return spawnSync(process.execPath, [main, ...process.argv.slice(2)], { stdio: "inherit" }).status !== 0;
});
if (failed.length > 0) process.stderr.write(`\nfailed: ${failed.join(", ")}\n`);
process.exit(failed.length > 0 ? 1 : 0);
