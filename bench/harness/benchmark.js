/** Runs a benchmark: reads its options, sets up what it needs, runs it, and reports the results. */
import { parseArgs } from "node:util";
import { report } from "./report.js";
import { prepare, workDirectory } from "./setup.js";

/**
 * The options of all benchmarks: --quick (one short round, to verify that the benchmark runs), --rounds n, --only a,b (names of
 * subjects, or parts of names), --write (into docs/explanation/benchmarks.md).
 *
 * @typedef {{ quick: boolean, write: boolean, rounds: number, only: readonly string[] }} Options
 */

/**
 * @param {{ name: string, title: string, rounds?: number, needs?: readonly ("viceroy")[] }} about
 * @param {(context: { options: Options, workDir: string, wanted: (name: string) => boolean }) =>
 *   Promise<readonly import("./report.js").Section[]>} run
 */
export async function benchmark({ name, title, rounds = 5, needs = [] }, run) {
  const options = readOptions(rounds);
  // Measures links without the addon, whether it has been built or not. Benchmarks of shared memory set the variable themselves.
  process.env.VICEROY_LINKS ??= "socket";
  const wanted = (subject) => options.only.length === 0 || options.only.some((part) => subject.includes(part));
  prepare(needs.filter(wanted));
  const sections = await run({ options, workDir: workDirectory(name), wanted });
  report({ name, title, command: commandLine(name), options }, sections);
}

function readOptions(defaultRounds) {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      rounds: { type: "string" },
      only: { type: "string", default: "" },
    },
  });
  if (values.quick && values.write)
    throw new Error("cannot use --write with --quick: numbers of a quick run must not be published");
  return {
    quick: values.quick,
    write: values.write,
    rounds: values.rounds === undefined ? (values.quick ? 1 : defaultRounds) : Number(values.rounds),
    only: values.only.split(",").filter(Boolean),
  };
}

function commandLine(name) {
  const args = process.argv.slice(2).filter((arg) => arg !== "--write");
  return [`npm run bench:${name}`, ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
}
