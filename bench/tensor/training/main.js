/**
 * `npm run bench:training`: a step of training a model of three layers, data-parallel in two processes: a mesh whose gradients are
 * averaged by `reduce`, through shared memory and over TCP, and Python's torch with DistributedDataParallel over Gloo, where it is installed
 * (`apt-get install python3-torch`). All begin with the same weights, have the same rows, and must have the same losses.
 */
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, repository, setUpAddon, startAnswering, takeWindows } from "../../harness/index.js";
import { writeProblem } from "./problem.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** The system's, for which Debian's package is: another Python may stand before it. */
const python = "/usr/bin/python3";
/** Of a loss, relative: elements are added up in another order. */
const tolerance = 1e-4;

const small = [784, 512, 512, 10];
const large = [784, 2048, 2048, 10];
const problems = [
  { layers: small, optimizer: "SGD", steps: 100 },
  { layers: small, optimizer: "AdamW", steps: 100 },
  { layers: large, optimizer: "SGD", steps: 10 },
];

await benchmark({ name: "training", title: "A step of training", rounds: 3 }, async ({ options, workDir, wanted }) => {
  execFileSync(process.execPath, [path.join(repository, "build.mjs")], { stdio: ["ignore", "ignore", "inherit"] });
  setUpAddon("tensor");
  const there = spawnSync(python, ["-c", "import torch.distributed"]).status === 0;
  if (!there) console.error(`skipped: ${python} has no torch`);
  const sections = [];
  for (const problem of problems) {
    const { layers, optimizer } = problem;
    const file = writeProblem(workDir, problem);
    const steps = String(options.quick ? 5 : problem.steps);
    const commands = {
      "viceroy, memory": [process.execPath, here("own.js"), file, steps, "memory"],
      "viceroy, TCP": [process.execPath, here("own.js"), file, steps, "tcp"],
      ...(there ? { "torch DDP": [python, here("peer.py"), file, steps] } : {}),
    };
    const losses = new Map();
    const subjects = Object.entries(commands)
      .filter(([name]) => wanted(name))
      .map(([name, command]) => ({ name, start: () => live(name, command, losses) }));
    const samples = await takeWindows(subjects, { ...options, windows: options.quick ? 2 : 5 });
    const columns = [
      { metric: "ms", title: "ms", ratio: true },
      { metric: "cpu", title: "ms of processor", ratio: true },
      { metric: "controller", title: "of them the controller's" },
      { metric: "bytes", title: "its bytes", digits: 0 },
    ];
    const parameters = layers.slice(1).reduce((sum, outputs, i) => sum + outputs * (layers[i] + 1), 0);
    sections.push({
      title: `${layers.join("-")} (${(parameters / 1e6).toFixed(2)} million parameters), ${optimizer}`,
      samples,
      table: compare(samples, { reference: there ? "torch DDP" : "viceroy, TCP", columns, subject: "a step by" }),
    });
  }
  return sections;
});

/** @param known the losses of the first steps, by who has had them */
async function live(name, command, known) {
  const { first, ask, stop } = await startAnswering(["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", ...command]);
  checkLosses(name, first.losses, known);
  let last;
  return {
    metrics: name.startsWith("viceroy") ? ["ms", "cpu", "controller", "bytes"] : ["ms", "cpu"],
    constants: {},
    async measure(metric) {
      // One window has all metrics.
      if (metric === "ms") last = await ask("again");
      return last[metric];
    },
    stop,
  };
}

/** They fall, and are the same for all. */
function checkLosses(name, losses, known) {
  if (!(losses.at(-1) < losses[0])) throw new Error(`${name} does not learn: its losses are ${losses}`);
  for (const [other, wanted] of known) {
    const differs = losses.findIndex((loss, i) => !(Math.abs(loss - wanted[i]) <= tolerance * wanted[i]));
    if (differs < 0) continue;
    throw new Error(`in step ${differs + 1} ${name} has loss ${losses[differs]}, ${other} has ${wanted[differs]}`);
  }
  known.set(name, losses);
}
