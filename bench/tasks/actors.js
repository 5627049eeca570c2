/** Compares eight actors of a context with a mesh of eight, and actors and tasks with those of Ray. */
import { fileURLToPath } from "node:url";
import { compare, runInterleaved, runJson } from "../harness/index.js";
import { isolated } from "../monarch/isolated.js";
import { preparePython } from "../monarch/python.js";

const reference = "viceroy, mesh of 8";
const here = (file) => fileURLToPath(new URL(file, import.meta.url));

const columns = [
  { metric: "first", title: "ms until 8 new actors have answered", ratio: true },
  { metric: "thousands", title: "k tasks/s, 1,000 in flight" },
  { metric: "p50", title: "ms for each task, one after the other", digits: 3 },
];

export async function measureActors({ options, workDir, wanted }) {
  const profile = JSON.stringify({ actors: 8, workers: 4, inFlight: 1000, ...durationsOf(options) });
  const viceroy = (kind) => [process.execPath, here("actor-driver.js"), kind, profile];
  const commands = { [reference]: viceroy("mesh"), "viceroy, 8 actors": viceroy("context") };
  const notes = [];
  if (wanted("ray")) {
    const { python, versions } = preparePython();
    notes.push(versions);
    commands.ray = [python, here("python/ray_tasks.py"), profile];
  }
  const subjects = Object.entries(commands)
    .filter(([name]) => wanted(name))
    .map(([name, command]) => ({ name, run: () => runJson(isolated(command), { env: { RAY_TMPDIR: workDir } }) }));
  if (subjects.length === 0) return [];
  const samples = await runInterleaved(subjects, options);
  const table = compare(samples, { reference, columns, subject: "actors" });
  return [{ title: "Eight actors in processes of their own, and tasks", samples, table, notes }];
}

function durationsOf({ quick }) {
  return quick ? { warmUp: 200, window: 200 } : { warmUp: 1000, window: 1000 };
}
