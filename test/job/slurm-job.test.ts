import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { compileCrew, project } from "../proc/crew.js";
import { newCache } from "./job-program.js";
import { SlurmCluster } from "./lab/slurm-cluster.js";

let cluster: SlurmCluster;
beforeAll(async () => {
  await compileCrew();
  cluster = new SlurmCluster(3);
});

test("try", () => {
  console.log(cluster.run("sinfo"));
  const [file, ...args] = [...cluster.login.through, process.execPath, "--import", "tsx", join(project, "programs/on-slurm.ts"), JSON.stringify({ cache: newCache() }), "kill"];
  const r = spawnSync(file!, args, { cwd: project, encoding: "utf8", env: cluster.env, timeout: 60000 });
  console.log(r.stdout, r.stderr, r.status);
  console.log(cluster.run("squeue", "-t", "all"));
  expect(r.status).toBe(0);
});
