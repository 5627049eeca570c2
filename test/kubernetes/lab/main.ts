/**
 * The process that holds a real Kubernetes for `npm run test:kubernetes`: `main.ts <backend> <folder of programs>`. It prints a line
 * of JSON when everything is ready, and takes everything down when its standard input ends.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { startClusterLab } from "./cluster-lab.js";
import { startControlPlaneLab } from "./control-plane-lab.js";
import { serveCommands } from "./held-lab.js";
import { holdUntilInputEnds } from "./hold.js";

const [backend, programs] = process.argv.slice(2) as [string, string];

await holdUntilInputEnds("vk-", async (folder, ends) => {
  const start = backend === "cluster" ? startClusterLab : startControlPlaneLab;
  const lab = await start(programs, folder, ends);
  const socket = path.join(folder, "commands");
  const server = await serveCommands(lab, socket);
  ends.push(() => {
    server.close();
  });
  const description = path.join(folder, "lab.json");
  writeFileSync(description, JSON.stringify({ ...lab.description, socket }));
  return { description, through: lab.through };
});
