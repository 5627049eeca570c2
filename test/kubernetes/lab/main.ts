/**
 * The process that holds a real Kubernetes for `npm run test:kubernetes`: `main.ts <backend> <folder of programs>`. It prints a line
 * of JSON when everything is ready, and takes everything down when its standard input ends.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startClusterLab } from "./cluster-lab.js";
import { startControlPlaneLab } from "./control-plane-lab.js";
import { type Ends, endAll } from "./ends.js";
import { serveCommands } from "./held-lab.js";

const [backend, programs] = process.argv.slice(2) as [string, string];
const folder = mkdtempSync(path.join(tmpdir(), "vk-"));
const ends: Ends = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })];
const over = new Promise<void>((resolve) => {
  process.stdin.on("end", resolve).on("error", resolve).resume();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve());
});

async function hold(): Promise<void> {
  const start = backend === "cluster" ? startClusterLab : startControlPlaneLab;
  const lab = await start(programs, folder, ends);
  const socket = path.join(folder, "commands");
  const server = await serveCommands(lab, socket);
  ends.push(() => {
    server.close();
  });
  const description = path.join(folder, "lab.json");
  writeFileSync(description, JSON.stringify({ ...lab.description, socket }));
  console.log(JSON.stringify({ description, through: lab.through }));
  await over;
}

try {
  await Promise.race([hold(), over]);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await endAll(ends);
}
process.exit();
