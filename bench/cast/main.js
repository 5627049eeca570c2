/**
 * `npm run bench:cast`: one call to many actors, each on a proc of its own, through a tree and to each actor directly. The benchmark
 * compares the work of the root. First all procs are inline, in one process. Then each is a simulated process on a host of its own, in
 * virtual time: up to 100,000 processes, in one round, since that takes minutes.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runInterleaved, runJson } from "../harness/index.js";

const inline = fileURLToPath(new URL("inline.ts", import.meta.url));
const simulated = fileURLToPath(new URL("simulated.ts", import.meta.url));
const memory = ["--max-old-space-size=14000", "--max-semi-space-size=64"];
const atRoot = [
  { metric: "frames", title: "frames at the root", ratio: true },
  { metric: "bytes", title: "bytes at the root", ratio: true },
];
const inlineColumns = [
  ...atRoot,
  { metric: "root", title: "us at the root", ratio: true },
  { metric: "us", title: "us until all have answered, on one core" },
  { metric: "first", title: "ms for the first call" },
];
const simulatedColumns = [
  ...atRoot,
  { metric: "ms", title: "ms until all have answered", ratio: true },
  { metric: "first", title: "ms for the first call" },
  { metric: "ready", title: "ms until all processes are ready" },
];
const hour = 3_600_000;
/** Numbers of actors, and of those that leave the mesh before. */
const quickSizes = [
  [8, 0],
  [64, 0],
];
const simulatedSizes = [...quickSizes, [512, 0], [512, 8], [4096, 0], [100_000, 0]];

const countOf = (actors) => `${actors.toLocaleString("en")} actors`;

await benchmark({ name: "cast", title: "Casts", rounds: 3 }, async ({ options, wanted }) => {
  const sections = [];
  const routes = ["direct", "tree"].filter(wanted);
  const section = async (title, run, columns, options) => {
    const samples = await runInterleaved(
      routes.map((name) => ({ name, run: () => run(name) })),
      options,
    );
    sections.push({
      title,
      samples,
      table: compare(samples, { reference: "direct", columns, subject: "route" }),
    });
  };
  for (const actors of options.quick ? [8, 64] : [8, 64, 512, 4096]) {
    const calls = String(Math.max(5, Math.floor(20_000 / actors)));
    const run = (route) => runJson([process.execPath, "--import", "tsx", inline, route, String(actors), calls]);
    await section(`${countOf(actors)}, inline`, run, inlineColumns, options);
  }
  for (const [actors, left] of options.quick ? quickSizes : simulatedSizes) {
    const calls = actors > 10_000 ? "1" : "3";
    const args = [...memory, "--import", "tsx", simulated];
    const run = (route) =>
      runJson([process.execPath, ...args, route, String(actors), calls, String(left)], { timeout: hour });
    // Equal seeds give equal runs, so one round is enough.
    const after = left === 0 ? "" : `, after ${left} others have left`;
    await section(`${countOf(actors)}${after}, simulated`, run, simulatedColumns, { ...options, rounds: 1 });
  }
  return sections;
});
