/** Tests of the example `quorum-training`, in which a host is killed. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { onSlurm } from "../job/lab/slurm-tests.js";
import { outputOf } from "./markdown.js";
import { expectOutput, type Outcome, root, run, runExample } from "./program.js";

/** Runs the program, and checks what it prints and plots. @param start starts it with a file for the plot */
async function checkTraining(start: (file: string) => Promise<Outcome>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "quorum-training-"));
  try {
    const file = path.join(folder, "loss.svg");
    const { code, stdout, stderr } = await start(file);
    expect(stderr).toBe("");
    expectOutput(
      stdout,
      outputOf("docs/examples/quorum-training.md").replace(/loss .*/, "loss <n> at first, <n> at the end"),
    );
    // The machine decides how many steps are made without the third replica, and so the loss.
    const [first, last] = stdout.match(/\d+\.\d+/g)!.map(Number);
    expect(last).toBeLessThan(first! / 2);
    const svg = readFileSync(file, "utf8");
    expect(svg).toMatch(/^<svg .*<polyline points="[\d., ]+".*<\/svg>\n$/s);
    // Steps without the third replica are shaded, and there are steps before and after them.
    const shaded = svg.match(/fill="#fdd"/g)!.length;
    const steps = Number(/(\d+) steps/.exec(svg)![1]);
    expect(shaded).toBeGreaterThan(0);
    expect(steps).toBeGreaterThanOrEqual(41 + shaded + 40);
    expect(code).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("quorum training: two replicas go on when the host of the third is killed, which comes back and catches up", () =>
  checkTraining((file) => runExample("quorum-training", [file])));

onSlurm("the example", (lab) => {
  test("quorum training: the same on the nodes of a cluster, of which nothing is left", async () => {
    const { login, env } = lab.cluster;
    const program = [process.execPath, "--import", "tsx", "examples/quorum-training/src/main.ts"];
    const [command, ...args] = [...login.through, ...program];
    await checkTraining((file) => run(command!, [...args, file, "--slurm"], root, env as Record<string, string>));
    expect(lab.living()).toEqual([]);
  });
});
