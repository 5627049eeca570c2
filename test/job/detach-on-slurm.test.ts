/** Tests of detached meshes on a real cluster of Slurm: hosts on other machines, over TCP, with a token. */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { networks } from "../faults/network.js";
import { loadProject, project, startOrdered } from "../host/publish/programs.js";
import { permitted } from "../permitted.js";
import { limitUnderLoad, until } from "../proc/until.js";
import { newCache } from "./job-program.js";
import { type SlurmCluster, withCluster } from "./lab/slurm-cluster.js";
import { findSlurm } from "./lab/slurm-release.js";

const release = findSlurm("22.05");
const slurm = permitted(
  "jobs on a cluster of Slurm",
  "Debian's packages slurmctld, slurmd and munge",
  release !== undefined,
);
let cluster: SlurmCluster;

/** The time in ms after which hosts without a driver end. Drivers come within it. */
const idle = limitUnderLoad(5000);
/** Hosts that live answer within this time. */
const attach = { silence: limitUnderLoad(4000) };

function startOwner(cache: string) {
  const options = { kind: "slurm", meshes: { workers: { hosts: 2 } }, cache, idle, attach, progress: "silent" };
  const through = [...cluster.login.through, process.execPath];
  return startOrdered(project, through, "job-owner.ts", [JSON.stringify(options)], cluster.env);
}

const living = () => cluster.run("squeue", "--noheader", "--format=%i").trim();

describe.runIf(networks && slurm)("a mesh on the nodes of Slurm", () => {
  withCluster({ release, nodes: 2 }, (started) => {
    cluster = started;
  });
  beforeAll(async () => {
    await loadProject();
  });
  afterEach(async () => {
    cluster.run("scancel", "--user=root");
    await until(() => living() === "");
  });

  test("outlives its driver, keeps the job from being idle, restarts its processes, and ends with the job", async () => {
    const cache = newCache();
    const first = await startOwner(cache);
    const { applyId } = (await first.order("state")) as { applyId: string };
    const restart = JSON.stringify({ restart: { policy: "on-failure", backoff: 0 } });
    await first.order("spawn", "shelves", "workers", "2", restart);
    await first.order("actors", "index", "shelves");
    await first.order("publish", "index", "index");
    expect(await first.order("add", "index", "tea")).toEqual([1, 1, 1, 1]);
    const pids = (await first.order("where", "index")) as number[];
    await first.order("detach");
    first.child.kill("SIGKILL");
    await first.exited;
    await new Promise((resolve) => setTimeout(resolve, idle + 2000));
    const second = await startOwner(cache);
    expect(await second.order("attach")).toMatchObject({ applyId });
    await second.order("lookup", "index");
    expect(await second.order("add", "index", "tea")).toEqual([2, 2, 2, 2]);
    expect(await second.order("where", "index")).toEqual(pids);
    process.kill(pids[3]!, "SIGKILL");
    await until(async () => {
      const now = (await second.order("where", "index").catch(() => pids)) as number[];
      return now[3] !== pids[3];
    });
    expect(await second.order("add", "index", "tea")).toEqual([3, 3, 3, 1]);
    await second.order("kill");
    expect(living()).toBe("");
  });
});
