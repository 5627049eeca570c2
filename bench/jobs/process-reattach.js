/** A program runs again, and uses the hosts that its last run has left. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { compare, runInterleaved, runJson } from "../harness/index.js";

const driver = fileURLToPath(new URL("driver.js", import.meta.url));
const columns = [
  { metric: "attach", title: "ms until `state` returns", ratio: true },
  { metric: "program", title: "ms from the program's start" },
  { metric: "answer", title: "ms from `state` to all answers" },
];

export async function measure({ options, workDir }) {
  const hosts = options.quick ? 2 : 4;
  const cache = path.join(workDir, "process.json");
  const job = JSON.stringify({ meshes: { workers: { hosts } }, cache });
  const run = (how) => runJson([process.execPath, driver, "process", job, "2", how]);
  const first = "first run";
  const samples = await runInterleaved([{ name: "both", run: () => pair(run) }], options);
  const pairs = samples.get("both");
  const table = new Map([
    [first, pairs.map(({ submitted, foreign }) => ({ ...submitted, foreign }))],
    ["next run", pairs.map(({ reused, foreign }) => ({ ...reused, foreign }))],
  ]);
  const title = `ProcessJob: ${hosts} hosts, ${hosts * 2} actors`;
  return [{ title, samples: table, table: compare(table, { reference: first, columns, subject: "program" }) }];
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
