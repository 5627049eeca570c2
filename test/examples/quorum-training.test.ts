/** Tests of the example `quorum-training`, in which a replica and a host are killed. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { thisHost } from "viceroy";
import { expect, test } from "vitest";
import "../../examples/quorum-training/generated/registry.js";
import { batchOf, weightCount } from "../../examples/quorum-training/src/data.js";
import { LogisticReplica } from "../../examples/quorum-training/src/logistic-replica.js";
import { makeModel } from "../../examples/quorum-training/src/make-model.js";
import { Quorum } from "../../examples/quorum-training/src/quorum.js";
import { TypedArrayModel } from "../../examples/quorum-training/src/typed-array-model.js";
import { onSlurm } from "../job/lab/slurm-tests.js";
import { describeTensors, hasTensors } from "../tensor/addon.js";
import { outputOf } from "./markdown.js";
import { expectOutput, type Outcome, root, run, runExample } from "./program.js";

/**
 * Runs the program, and checks what it prints and plots.
 * @param computesWith what the replicas compute with
 * @param start starts the program with a file for the plot
 */
async function checkTraining(computesWith: string, start: (file: string) => Promise<Outcome>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "quorum-training-"));
  try {
    const file = path.join(folder, "loss.svg");
    const { code, stdout, stderr } = await start(file);
    expect(stderr).toBe("");
    expectOutput(
      stdout,
      outputOf("docs/examples/quorum-training.md")
        .replace(/compute with .*/, `compute with ${computesWith}`)
        .replace(/loss .*/, "loss <n> at first, <n> at the end"),
    );
    // The machine decides how many steps are made without the third replica, and so the loss.
    const [first, last] = stdout.match(/\d+\.\d+/g)!.map(Number);
    expect(last).toBeLessThan(first! / 2);
    const svg = readFileSync(file, "utf8");
    expect(svg).toMatch(/^<svg .*<polyline points="[\d., ]+".*<\/svg>\n$/s);
    // Steps without one of the replicas are shaded. All replicas make 40 steps before each of the two faults, and after them.
    const shaded = svg.match(/fill="#fdd"/g)!.length;
    const steps = Number(/(\d+) steps/.exec(svg)![1]);
    expect(shaded).toBeGreaterThan(1);
    expect(steps).toBeGreaterThanOrEqual(120 + shaded);
    expect(code).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const kinds = [
  ["typed arrays", { VICEROY_TENSOR_ADDON: "off" }],
  ...(hasTensors ? [["tensors", {}] as const] : []),
] as const;

test.concurrent.for(kinds)(
  "quorum training with %s: two replicas go on when the process or the host of the third is killed, which comes back and catches up",
  ([computesWith, env]) => checkTraining(computesWith, (file) => runExample("quorum-training", [file], root, env)),
);

test("quorum training: a replica that has been restarted before anybody noticed leaves, and catches up", async () => {
  await using procs = thisHost().spawnProcs({ replicas: 2 }, { isolation: "inline" });
  const mesh = procs.spawn("replicas", LogisticReplica);
  const [first, second] = [0, 1].map((replicas) => mesh.slice({ replicas }));
  const quorum = new Quorum([first!, second!], 1);
  expect((await quorum.step(0)).members).toEqual([0, 1]);
  const fresh = procs.spawn("fresh", LogisticReplica);
  const restarted = new Quorum([first!, fresh.slice({ replicas: 1 })], 1);
  await expect(fresh.slice({ replicas: 1 }).gradient.callOne(1)).rejects.toThrow(
    "cannot compute step 1: this replica has the weights of step 0",
  );
  expect((await restarted.step(1)).members).toEqual([0]);
  expect((await restarted.step(2)).members).toEqual([0, 1]);
});

describeTensors("with libtorch", () => {
  test("quorum training: both models have the same loss, the same gradient and the same weights after a step", () => {
    const initial = Float32Array.from({ length: weightCount }, (_, i) => Math.sin(i));
    const memory = [initial.slice(), initial.slice()] as const;
    const models = [makeModel(memory[0]), new TypedArrayModel(memory[1])] as const;
    expect(models.map(({ computesWith }) => computesWith)).toEqual(["tensors", "typed arrays"]);
    const [tensors, arrays] = models.map((model) => model.gradient(batchOf(1, 2)));
    expect(tensors!.loss).toBeCloseTo(arrays!.loss, 5);
    expect([...tensors!.gradient]).toEqual([...arrays!.gradient].map((slope) => expect.closeTo(slope, 5)));
    for (const model of models) model.apply(arrays!.gradient);
    expect(memory[0]).toEqual(memory[1]);
    expect(memory[0]).not.toEqual(initial);
  });
});

onSlurm("the example", (lab) => {
  test("quorum training: the same on the nodes of a cluster, of which nothing is left", async () => {
    const { login, env } = lab.cluster;
    const program = [process.execPath, "--import", "tsx", "examples/quorum-training/src/main.ts"];
    const [command, ...args] = [...login.through, ...program];
    await checkTraining(hasTensors ? "tensors" : "typed arrays", (file) =>
      run(command!, [...args, file, "--slurm"], root, env as Record<string, string>),
    );
    expect(lab.living()).toEqual([]);
  });
});
