/** Runs a benchmark: reads its options, sets up what it needs, runs it, and reports the results. */
import { parseArgs } from "node:util";
import { report } from "./report.js";
import { prepare, workDirectory } from "./setup.js";

/**
 * The options of all benchmarks: --quick (one short round, to verify that the benchmark runs), --rounds n, --only a,b (names of
 * subjects, or parts of names), --write (into docs/explanation/benchmarks.md). `sizes` has the numbers of the option that a benchmark
 * names itself.
 *
 * @typedef {{ quick: boolean, write: boolean, rounds: number, only: readonly string[], sizes: readonly number[] }} Options
 */

/**
 * `subjects` are the names of all subjects: an entry of --only that is one of them selects no other subject whose name contains it.
 * `sizes` is an option of the benchmark that takes numbers, separated by commas: its name, and the numbers without the option.
 *
 * @param {{
 *   name: string,
 *   title: string,
 *   rounds?: number,
 *   needs?: readonly ("viceroy")[],
 *   subjects?: readonly string[],
 *   sizes?: { option: string, all: readonly number[], quick: readonly number[] },
 * }} about
 * @param {(context: { options: Options, workDir: string, wanted: (name: string) => boolean }) =>
 *   Promise<readonly import("./report.js").Section[]>} run
 */
export async function benchmark({ name, title, rounds = 5, needs = [], subjects = [], sizes }, run) {
  const options = readOptions(rounds, sizes);
  // Measures links without the addon, whether it has been built or not. Benchmarks of shared memory set the variable themselves.
  process.env.VICEROY_LINKS ??= "socket";
  const matches = (subject, text) => (subjects.includes(text) ? subject === text : subject.includes(text));
  const wanted = (subject) => options.only.length === 0 || options.only.some((text) => matches(subject, text));
  prepare(needs.filter(wanted));
  const sections = await run({ options, workDir: workDirectory(name), wanted });
  report({ name, title, command: commandLine(name), options }, sections);
}

function readOptions(defaultRounds, sizes) {
  const { values } = parseArgs({
    options: {
      ...(sizes === undefined ? {} : { [sizes.option]: { type: "string" } }),
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
    sizes: sizes === undefined ? [] : readSizes(values[sizes.option], values.quick ? sizes.quick : sizes.all),
  };
}

function readSizes(text, byDefault) {
  return text === undefined ? byDefault : text.split(",").map(Number);
}

function commandLine(name) {
  const args = process.argv.slice(2).filter((arg) => arg !== "--write");
  return [`npm run bench:${name}`, ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
}
