/** Tests of jobs of Slurm that cannot be submitted, or cannot start: the error says why, and nothing is left in the queue. */
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { limitUnderLoad } from "../proc/until.js";
import { newCache } from "./job-program.js";
import { onSlurm, type SlurmLab } from "./lab/slurm-tests.js";

/** Writes a program that nodes run instead of Node.js. */
function fakeNode(...lines: string[]): string {
  const file = join(mkdtempSync(join(tmpdir(), "vf-")), "node");
  writeFileSync(file, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(file, 0o755);
  return file;
}

/** Runs a program whose job fails, and returns the error. Nothing may be left in the queue. */
async function complaint(lab: SlurmLab, options: object, env?: NodeJS.ProcessEnv) {
  const driver = lab.startDriver(options, "kill", env);
  const { name, message } = await driver.outcome();
  expect(lab.living()).toEqual([]);
  return { name, message: message! };
}

onSlurm("a job of Slurm that fails", (lab) => {
  test("whose host cannot start is an error with the end of its output", async () => {
    const { name, message } = await complaint(lab, { setup: "echo no such module >&2; exit 3" });
    expect(name).toBe("JobStartError");
    expect(message).toMatch(
      /^cannot start job "viceroy": Slurm has ended job \d+: FAILED \(NonZeroExitCode\); its output ends with: no such module$/,
    );
  });

  test("that Slurm refuses is an error with Slurm's words", async () => {
    const { name, message } = await complaint(lab, { partition: "moon" });
    expect(name).toBe("JobSubmitError");
    expect(message).toBe(
      'cannot submit job "viceroy": sbatch: sbatch: error: invalid partition specified: moon\n' +
        "sbatch: error: Batch job submission failed: Invalid partition name specified",
    );
  });

  // The root folder of the other release always has its programs on the path.
  test.runIf(lab.version === "22.05")("where there is no Slurm is an error that says what to install", async () => {
    const { name, message } = await complaint(lab, {}, { ...process.env, PATH: "/usr/bin:/bin" });
    expect(name).toBe("JobSubmitError");
    expect(message).toBe(
      'cannot submit job "viceroy": sbatch: there is no program sbatch here; install Slurm\'s client programs, or name ' +
        "a login node with the option login",
    );
  });

  test("with an option that Slurm does not know is an error with Slurm's words", async () => {
    const { name, message } = await complaint(lab, { arguments: ["--gres=spoon:1"] });
    expect(name).toBe("JobSubmitError");
    expect(message).toMatch(
      /^cannot submit job "viceroy": sbatch: sbatch: error: .*Invalid generic resource \(gres\) specification$/,
    );
  });

  test("on a node without Node.js is an error that names the node", async () => {
    const { name, message } = await complaint(lab, { node: "/opt/it's/node" });
    expect(name).toBe("JobStartError");
    expect(message).toMatch(
      /^cannot start job "viceroy": Slurm has ended job \d+: FAILED \(NonZeroExitCode\); its output/,
    );
    expect(message).toMatch(
      /workers [01]: viceroy host: cannot start on node n[12]: there is no Node\.js: the shell finds no program \/opt\/it's\/node; /,
    );
    expect(message).toContain(
      "install it there, name it with the option node, or make it available with the option setup",
    );
  });

  test("on a node whose Node.js is too old is an error that says which one works", async () => {
    const node = fakeNode(`[ "$SLURMD_NODENAME" = n2 ] || exec "${process.execPath}" "$@"`, "echo v20.8.1");
    const { message } = await complaint(lab, { node });
    expect(message).toContain(
      "workers 1: viceroy host: cannot start on node n2: Node.js 20.8.1 is too old, 20.9 is the oldest that works; name " +
        "another one with the option node",
    );
  });

  test("with a host that never comes up is an error with its name and the end of its output", async () => {
    const hanging = '[ "$SLURMD_NODENAME" = n1 ] || [ "$1" = --version ] || { echo waits for a disk; exec sleep 600; }';
    const node = fakeNode(hanging, `exec "${process.execPath}" "$@"`);
    const limit = limitUnderLoad(4000);
    const { name, message } = await complaint(lab, { node, hostTimeout: limit });
    expect(name).toBe("JobStartTimeoutError");
    expect(message).toMatch(
      new RegExp(
        `^cannot start job "viceroy": workers\\[1\\] did not come up within ${limit} ms \\(hostTimeout\\): workers\\[1\\] runs ` +
          "on node n2, and does not answer at port \\d+: connect ECONNREFUSED [\\d.:]+; its output ends with: waits for a disk$",
      ),
    );
  });

  test("whose first node does not see the folder of the job is an error that says so", async () => {
    const cache = newCache();
    await lab.cluster.killNode("n1");
    lab.cluster.startNode("n1", dirname(cache));
    const { name, message } = await complaint(lab, { cache });
    expect(name).toBe("JobStartError");
    expect(message).toMatch(
      new RegExp(
        "could not create its output file " +
          `${dirname(cache)}/\\S+/slurm-\\d+\\.log: its first node does not see this folder\\. The cache of the job must be ` +
          "in a folder that all nodes share$",
      ),
    );
    await lab.cluster.killNode("n1");
    lab.cluster.startNode("n1");
  });

  test("of which one node does not see the folder of the job is an error that names the node", async () => {
    const cache = newCache();
    await lab.cluster.killNode("n2");
    lab.cluster.startNode("n2", dirname(cache));
    const { name, message } = await complaint(lab, { cache });
    expect(name).toBe("JobStartError");
    expect(message).toMatch(
      new RegExp(
        `workers 1: viceroy host: cannot start on node n2: it does not see the folder ${dirname(cache)}/\\S+; the cache of ` +
          "a job must be in a folder that all nodes share",
      ),
    );
    await lab.cluster.killNode("n2");
    lab.cluster.startNode("n2");
  });
});
