/**
 * `npm run bench:cast`: one call to many actors, each on a proc of its own, down a tree and to each actor directly. What is
 * compared is what comes to the root. First all procs are inline, in one process; then each is a simulated process on a host of
 * its own, in virtual time: up to 100,000 of them, once, since that takes minutes.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runJson, takeTurns } from "../harness/index.js";

const inline = fileURLToPath(new URL("driver.ts", import.meta.url));
const simulated = fileURLToPath(new URL("simulated.ts", import.meta.url));
const memory = ["--max-old-space-size=14000", "--max-semi-space-size=64"];
const atRoot = [
  { metric: "frames", title: "frames at the root", ratio: true },
  { metric: "bytes", title: "bytes at the root", ratio: true },
];
const columns = [
  ...atRoot,
  { metric: "root", title: "us at the root", ratio: true },
  { metric: "us", title: "us until all have answered, one core for all" },
  { metric: "first", title: "ms for the first call" },
];
const simulatedColumns = [
  ...atRoot,
  { metric: "ms", title: "ms until all have answered", ratio: true },
  { metric: "first", title: "ms for the first call" },
  { metric: "ready", title: "ms until all processes are there" },
];
const hour = 3_600_000;

const counted = (actors) => `${actors.toLocaleString("en")} actors`;

await benchmark({ name: "cast", title: "Casts", rounds: 3 }, async ({ options, wanted }) => {
  const sections = [];
  const ways = ["directly", "tree"].filter(wanted);
  const section = async (title, run, shown, turns) => {
    const samples = await takeTurns(
      ways.map((name) => ({ name, run: () => run(name) })),
      turns,
    );
    sections.push({
      title,
      samples,
      table: compare(samples, { reference: "directly", columns: shown, subject: "way" }),
    });
  };
  for (const actors of options.quick ? [8, 64] : [8, 64, 512, 4096]) {
    const calls = String(Math.max(5, Math.floor(20_000 / actors)));
    const run = (way) => runJson([process.execPath, "--import", "tsx", inline, way, String(actors), calls]);
    await section(`${counted(actors)}, inline`, run, columns, options);
  }
  for (const actors of options.quick ? [8, 64] : [8, 64, 512, 4096, 100_000]) {
    const calls = actors > 10_000 ? "1" : "3";
    const args = [...memory, "--import", "tsx", simulated];
    const run = (way) => runJson([process.execPath, ...args, way, String(actors), calls], { timeout: hour });
    // The same seed gives the same run.
    await section(`${counted(actors)}, simulated`, run, simulatedColumns, { ...options, rounds: 1 });
  }
  return sections;
});
