/** A job of processes is killed, with descendants that ignore SIGTERM in sessions of their own. */
import { fileURLToPath } from "node:url";
import { compare, runInterleaved, runJson } from "../harness/index.js";

const driver = fileURLToPath(new URL("driver.js", import.meta.url));
const columns = [
  { metric: "killed", title: "ms until nothing is left" },
  { metric: "left", title: "processes that are left" },
];
/** Each host starts it before its daemon. */
const runaway = `setsid sh -c 'trap "" TERM HUP; while :; do sleep 1; done' > /dev/null 2>&1 &`;

export async function measure({ options }) {
  const hosts = 8;
  const run = async (setup) => {
    const job = JSON.stringify({ meshes: { workers: { hosts } }, cache: null, ...setup });
    const { answered, killed, left, foreign } = await runJson([process.execPath, driver, "process", job, "4", "kill"]);
    return { killed: killed - answered, left, foreign };
  };
  const reference = "no descendants";
  const samples = await runInterleaved(
    [
      { name: reference, run: () => run({}) },
      { name: "descendants that ignore SIGTERM", run: () => run({ setup: runaway }) },
    ],
    options,
  );
  const title = `ProcessJob: ${hosts} hosts, ${hosts * 4} processes`;
  return [{ title, samples, table: compare(samples, { reference, columns, subject: "hosts with" }) }];
}
