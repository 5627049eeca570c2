/** Promises of the process that holds a real Kubernetes. */
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { until } from "../proc/until.js";
import { backend, ownLab } from "./lab/on-kubernetes.js";
import type { LabDescription } from "./lab/remote-lab.js";

const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Starts a lab as the runner of the tests does, and prints where it is. */
const runner = `
  const { spawn } = require("node:child_process");
  const args = ["--import", "tsx", "test/kubernetes/lab/main.ts", "control-plane", process.argv[1]];
  const lab = spawn(process.execPath, args, { detached: true, stdio: ["pipe", "pipe", "inherit"] });
  lab.stdout.pipe(process.stdout);
`;

/** Returns the processes that have a path below a folder among their arguments. */
function processesOf(folder: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(`${folder}/`);
    } catch {
      return false;
    }
  });
}

it.runIf(backend === "control-plane")("the lab leaves nothing behind when its runner is killed", async () => {
  const description = readFileSync(ownLab(), "utf8");
  const programs = path.dirname((JSON.parse(description) as LabDescription).kubectl);
  const child = spawn(process.execPath, ["-e", runner, programs], {
    cwd: repository,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const line = await new Promise<string>((resolve) => createInterface(child.stdout).once("line", resolve));
  const folder = path.dirname((JSON.parse(line) as { description: string }).description);
  // The controller manager and the scheduler are started with a file in the folder.
  expect(processesOf(folder).length).toBeGreaterThanOrEqual(2);
  child.kill("SIGKILL");
  await until(() => !existsSync(folder) && processesOf(folder).length === 0);
});
