/**
 * `npm run bench:training`: one training step of a model of three layers, data-parallel in two processes: a mesh whose gradients are
 * averaged by `reduce`, through shared memory and over TCP, and Python's torch with DistributedDataParallel over Gloo where it is installed
 * (`apt-get install python3-torch`). All start with equal weights and rows, and must have equal losses.
 */
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { benchmark, compare, measureInterleaved, repository, setUpAddon, startAnswering } from "../../harness/index.js";
import { writeProblem } from "./problem.js";

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
/** The system's Python, for which Debian's package is made. PATH may contain another one before it. */
const python = "/usr/bin/python3";
/** Relative tolerance of a loss, because implementations add elements in different orders. */
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
  const hasTorch = spawnSync(python, ["-c", "import torch.distributed"]).status === 0;
  if (!hasTorch) console.error(`skipped: ${python} has no torch`);
  const sections = [];
  for (const problem of problems) {
    const { layers, optimizer } = problem;
    const file = writeProblem(workDir, problem);
    const steps = String(options.quick ? 5 : problem.steps);
    const commands = {
      "viceroy, memory": [process.execPath, here("viceroy.js"), file, steps, "memory"],
      "viceroy, TCP": [process.execPath, here("viceroy.js"), file, steps, "tcp"],
      ...(hasTorch ? { "torch DDP": [python, here("torch_ddp.py"), file, steps] } : {}),
    };
    const losses = new Map();
    const subjects = Object.entries(commands)
      .filter(([name]) => wanted(name))
      .map(([name, command]) => ({ name, start: () => startSubject(name, command, losses) }));
    const samples = await measureInterleaved(subjects, { ...options, windows: options.quick ? 2 : 5 });
    const columns = [
      { metric: "ms", title: "ms", ratio: true },
      { metric: "cpu", title: "ms CPU", ratio: true },
      { metric: "controller", title: "ms CPU of the controller" },
      { metric: "bytes", title: "bytes sent by the controller", digits: 0 },
    ];
    const parameters = layers.slice(1).reduce((sum, outputs, i) => sum + outputs * (layers[i] + 1), 0);
    sections.push({
      title: `${layers.join("-")} (${(parameters / 1e6).toFixed(2)} million parameters), ${optimizer}`,
      samples,
      table: compare(samples, { reference: hasTorch ? "torch DDP" : "viceroy, TCP", columns, subject: "system" }),
    });
  }
  return sections;
});

/** @param known the losses of the first steps of earlier subjects, by name */
async function startSubject(name, command, known) {
  const { first, ask, stop } = await startAnswering(["env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", ...command]);
  checkLosses(name, first.losses, known);
  let last;
  return {
    metrics: name.startsWith("viceroy") ? ["ms", "cpu", "controller", "bytes"] : ["ms", "cpu"],
    constants: {},
    async measure(metric) {
      // One window measures all metrics.
      if (metric === "ms") last = await ask("again");
      return last[metric];
    },
    stop,
  };
}

/** Throws unless the losses fall and equal those of the other subjects. */
function checkLosses(name, losses, known) {
  if (!(losses.at(-1) < losses[0])) throw new Error(`${name} does not learn: the losses are ${losses}`);
  for (const [other, wanted] of known) {
    const differs = losses.findIndex((loss, i) => !(Math.abs(loss - wanted[i]) <= tolerance * wanted[i]));
    if (differs < 0) continue;
    throw new Error(`in step ${differs + 1} ${name} has loss ${losses[differs]}, ${other} has ${wanted[differs]}`);
  }
  known.set(name, losses);
}
