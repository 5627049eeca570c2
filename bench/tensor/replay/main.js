/**
 * `npm run bench:replay`: the processor time that a step on a mesh takes in its controller, with 10, 100 and 1,000 operations and for a step of
 * training. Each step is called plainly and by `recorded`, and must have the same result.
 */
import { execFileSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, measureInterleaved, repository, setUpAddon, startAnswering } from "../../harness/index.js";

const program = fileURLToPath(new URL("viceroy.js", import.meta.url));
const kinds = {
  10: "10 operations",
  100: "100 operations",
  1000: "1,000 operations",
  training: "A step of training: three layers, AdamW",
};

await benchmark({ name: "replay", title: "Recorded steps", rounds: 5 }, async ({ options, wanted }) => {
  execFileSync(process.execPath, [path.join(repository, "build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
  setUpAddon("tensor");
  const sections = [];
  for (const [kind, title] of Object.entries(kinds)) {
    const results = new Map();
    const subjects = ["plain", "recorded"]
      .filter(wanted)
      .map((name) => ({ name, start: () => startSubject(name, kind, options.quick ? 20 : 500, results) }));
    const samples = await measureInterleaved(subjects, { ...options, windows: options.quick ? 2 : 5 });
    const columns = [
      { metric: "us", title: "us CPU of the controller", ratio: true },
      { metric: "bytes", title: "bytes sent by the controller", digits: 0 },
    ];
    sections.push({ title, samples, table: compare(samples, { reference: "plain", columns, subject: "calls" }) });
  }
  return sections;
});

/** @param results the results of the first steps of earlier subjects, by name */
async function startSubject(name, kind, steps, results) {
  const { first, ask, stop } = await startAnswering([process.execPath, program, name, kind, String(steps)]);
  for (const [other, result] of results) {
    if (result !== first.result) throw new Error(`${name} computes ${first.result}, and ${other} ${result}`);
  }
  results.set(name, first.result);
  let last;
  return {
    metrics: ["us", "bytes"],
    constants: {},
    async measure(metric) {
      // One window measures both metrics.
      if (metric === "us") last = await ask("again");
      return last[metric];
    },
    stop,
  };
}
