/**
 * `npm run bench:cast`: one call to many actors, each on a proc of its own, down a tree and to each actor directly. All
 * procs are inline, in one process: what is compared is what comes to the root.
 */
import { fileURLToPath } from "node:url";
import { benchmark, compare, runJson, takeTurns } from "../harness/index.js";

const driver = fileURLToPath(new URL("driver.ts", import.meta.url));
const columns = [
  { metric: "frames", title: "frames at the root", ratio: true },
  { metric: "bytes", title: "bytes at the root", ratio: true },
  { metric: "root", title: "us at the root", ratio: true },
  { metric: "us", title: "us until all have answered, one core for all" },
  { metric: "first", title: "ms for the first call" },
];

await benchmark({ name: "cast", title: "Casts", rounds: 3 }, async (context) => {
  const sections = [];
  for (const actors of context.options.quick ? [8, 64] : [8, 64, 512, 4096]) {
    const calls = Math.max(5, Math.floor(20_000 / actors));
    const subjects = ["directly", "tree"]
      .filter((name) => context.wanted(name))
      .map((name) => ({
        name,
        run: () => runJson([process.execPath, "--import", "tsx", driver, name, String(actors), String(calls)]),
      }));
    const samples = await takeTurns(subjects, context.options);
    const table = compare(samples, { reference: "directly", columns, subject: "way" });
    sections.push({ title: `${actors.toLocaleString("en")} actors`, samples, table });
  }
  return sections;
});
