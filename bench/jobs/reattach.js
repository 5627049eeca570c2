/** A program runs again, and uses the hosts that its last run has left. */
import { compare, runInterleaved } from "../harness/index.js";

const first = "first run";
const columns = [
  { metric: "attach", title: "ms until `state` returns", ratio: true },
  { metric: "program", title: "ms from the program's start" },
  { metric: "answer", title: "ms from `state` to all answers" },
];

/**
 * @param run runs the program, which then leaves or kills its job: `run("leave")`, `run("kill")`
 * @returns a section
 */
export async function measureReattach(title, run, options) {
  const samples = await runInterleaved([{ name: title, run: () => pair(run) }], options);
  const pairs = samples.get(title);
  const rows = new Map([
    [first, pairs.map(({ submitted, foreign }) => ({ ...submitted, foreign }))],
    ["next run", pairs.map(({ reused, foreign }) => ({ ...reused, foreign }))],
  ]);
  return { title, samples: rows, table: compare(rows, { reference: first, columns, subject: "program" }) };
}

async function pair(run) {
  const submitted = await run("leave");
  const reused = await run("kill");
  if (reused.applyId !== submitted.applyId) throw new Error("the second run has not used the job of the first");
  return { submitted: timesOf(submitted), reused: timesOf(reused) };
}

function timesOf({ begun, asked, attached, answered }) {
  return { attach: attached - asked, program: attached - begun, answer: answered - attached };
}
