/** Detached actors on a real cluster of Slurm: hosts on other machines, over TLS. */
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { networks } from "../../faults/network.js";
import { startOrdered } from "../../host/publish/programs.js";
import { newCache } from "../../job/job-program.js";
import { type SlurmCluster, withCluster } from "../../job/lab/slurm-cluster.js";
import { findSlurm } from "../../job/lab/slurm-release.js";
import { permitted } from "../../permitted.js";
import { gone, limitUnderLoad, until } from "../../proc/until.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const release = findSlurm("22.05");
const slurm = permitted(
  "detached actors on a cluster of Slurm",
  "Debian's packages slurmctld, slurmd and munge",
  release !== undefined,
);
let cluster: SlurmCluster;

/** The time in ms after which hosts without a driver end. Drivers come within it. */
const idle = limitUnderLoad(5000);
/** Hosts that live answer within this time. */
const attach = { silence: limitUnderLoad(4000) };

function startProgram(cache: string) {
  const options = { kind: "slurm", meshes: { workers: { hosts: 2 } }, cache, idle, attach, progress: "silent" };
  const through = [...cluster.login.through, process.execPath];
  return startOrdered(here, through, "context-program.ts", [JSON.stringify(options)], cluster.env);
}

const living = () => cluster.run("squeue", "--noheader", "--format=%i").trim();

describe.runIf(networks && slurm)("detached actors on the nodes of Slurm", () => {
  withCluster({ release, nodes: 2 }, (started) => {
    cluster = started;
  });
  afterEach(async () => {
    cluster.run("scancel", "--user=root");
    await until(() => living() === "");
  });

  test("outlive their program, keep the job from being idle, are restarted, and end with the job", async () => {
    const cache = newCache();
    const first = await startProgram(cache);
    const { applyId } = (await first.order("open")) as { applyId: string };
    const pids: number[] = [];
    for (const name of ["a", "b"]) {
      pids.push((await first.order("actor", name, JSON.stringify({ resources: { cpus: 1 }, restarts: 1 }))) as number);
      await first.order("note", name, name);
    }
    first.child.kill("SIGKILL");
    await first.exited;
    await new Promise((resolve) => setTimeout(resolve, idle + 2000));
    const second = await startProgram(cache);
    expect(await second.order("open")).toMatchObject({ applyId });
    expect([await second.order("get", "a"), await second.order("get", "b")]).toEqual(pids);
    expect(await second.order("log", "b")).toEqual(["init", "+b", "-b"]);
    // Each has the processor of a host, so that no task has one.
    expect(await second.order("runs", JSON.stringify({ cpus: 1 }), "500")).toBe(false);
    process.kill(pids[1]!, "SIGKILL");
    await until(async () => ![null, pids[1]].includes((await second.order("pid", "b").catch(() => null)) as never));
    const restarted = (await second.order("pid", "b")) as number;
    await second.order("kill");
    await until(() => gone(pids[0]!) && gone(restarted));
  });
});
