/**
 * Runs a program under load while faults are injected: `npm run soak -- --minutes 30 [--seed 1] [--every 5]`, where
 * `--every` is the interval in seconds. It uses the build and compiles the actors first.
 */
import path from "node:path";
import { allOf, node, root, viceroy } from "./steps.mjs";

if (process.platform !== "linux") {
  console.log("skipped: the soak (it reads /proc, which this system has not)");
  process.exit(0);
}
const main = path.join(root, "test/soak/run-soak.ts");
process.exitCode = await allOf([
  () => viceroy("test/fixtures/crew", "compile"),
  () => node("--import", "tsx", main, ...process.argv.slice(2)),
]);
