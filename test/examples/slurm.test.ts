import { expect, test } from "vitest";
import { onSlurm } from "../job/lab/slurm-tests.js";
import { outputOf } from "./markdown.js";
import { root, run, runExample } from "./program.js";

// Random numbers are seeded, so every printed number is the same.
test("slurm: without a cluster, the program runs in processes on this machine, as the page shows", async () => {
  const { code, stdout, stderr } = await runExample("slurm", ["--local"]);
  expect(stderr).toBe("");
  expect(stdout.trim()).toBe(outputOf("docs/examples/slurm.md"));
  expect(code).toBe(0);
});

onSlurm("the example", (lab) => {
  test("slurm: on a cluster, the program prints the same, and leaves nothing behind", async () => {
    const { login, env } = lab.cluster;
    const [command, ...args] = [...login.through, process.execPath, "--import", "tsx", "examples/slurm/src/main.ts"];
    const { code, stdout } = await run(command!, args, root, env as Record<string, string>);
    const found = stdout.split("\n").filter((line) => !/^job \d+ is /.test(line));
    expect(found.join("\n").trim()).toBe(outputOf("docs/examples/slurm.md"));
    expect(code).toBe(0);
    expect(lab.living()).toEqual([]);
  });
});
