/**
 * `npm run bench:resize`: resizes a mesh of 4 processes to 8 and waits until the 4 new ones have answered a first message, compared with
 * spawning 4 processes. All starts are cold: each run has a driver of its own. The driver of the resized mesh has spawned its first 4
 * processes before the time begins.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";
import { prepareProgram } from "../viceroy/prepare.js";

const reference = "spawn 4";
const driver = fileURLToPath(new URL("driver.js", import.meta.url));
const subjects = { [reference]: [0, 4], "resize from 4 to 8": [4, 8] };
const columns = [
  { metric: "ready", title: "ms until the new ones have answered", ratio: true },
  { metric: "cpu", title: "ms CPU, driver and new processes", ratio: true },
];

await benchmark({ name: "resize", title: "Resize a mesh", rounds: 9, needs: ["viceroy"] }, async (context) => {
  await prepareProgram();
  const runs = Object.entries(subjects)
    .filter(([name]) => context.wanted(name))
    .map(([name, [from, to]]) => ({ name, run: () => runJson([process.execPath, driver, String(from), String(to)]) }));
  const samples = await runInterleaved(runs, context.options);
  return [{ title: "4 more processes", samples, table: compare(samples, { reference, columns, subject: "change" }) }];
});
