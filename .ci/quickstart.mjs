/**
 * Leads from a fresh clone to a running mesh of processes: installs, builds, compiles the example schemas, and analyses
 * the files and folders in the arguments (by default the documentation) with four processes.
 */
import path from "node:path";
import { allOf, examples, install, node, step, viceroy } from "./steps.mjs";

// npm runs scripts in the folder of the package, not in the folder of the caller.
const from = process.env.INIT_CWD ?? process.cwd();
const inputs = process.argv.slice(2).map((input) => (input.startsWith("-") ? input : path.resolve(from, input)));

const ready =
  (await step("install", install)) &&
  (await step("build", () => node("build.mjs", "runtime", "compiler"))) &&
  (await step("compile the example schemas", () =>
    allOf(examples().map((example) => () => viceroy(example, "compile"))),
  ));
if (!ready) process.exit(1);
console.log("\n== analyse text with four processes");
process.exitCode = await node("--import", "tsx", "examples/text-analysis/src/main.ts", ...inputs);
