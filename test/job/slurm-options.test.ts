/** Tests of what Slurm is asked for: each option is read from what Slurm says about the job. */
import { expect, test } from "vitest";
import { until } from "../proc/until.js";
import { onSlurm, type SlurmLab } from "./lab/slurm-tests.js";

/** Submits a job that Slurm holds, and returns the ids of its parts. */
async function submit(lab: SlurmLab, options: { arguments?: readonly string[] } & Record<string, unknown>) {
  const driver = lab.startDriver({ ...options, arguments: ["--hold", ...(options.arguments ?? [])] });
  const isHeld = (event: string) => /^pending: job \d+ is PENDING: JobHeldUser$/.test(event);
  await until(() => driver.events().some(isHeld) || driver.printed.some(({ message }) => message !== undefined));
  expect(driver.printed.find(({ message }) => message !== undefined)?.message).toBe(undefined);
  return lab.living();
}

const three = { trainers: { hosts: 2 }, workers: { hosts: 1 } };

onSlurm("what a job asks Slurm for", (lab) => {
  test("all meshes are one job, which gets all its nodes together", async () => {
    const [id, ...others] = await submit(lab, { name: "night-run", meshes: three });
    expect(others).toEqual([]);
    expect(lab.show(id!)).toMatchObject({ JobName: "night-run", NumNodes: "3-3", "NtasksPerN:B:S:C": "1:0:*:*" });
    expect(lab.show(id!)["Comment"]).toMatch(/^viceroy:[0-9a-f-]{36}$/);
  });

  test("each mesh is a job of its own", async () => {
    const ids = (await submit(lab, { meshes: three, allocation: "each" })).sort((left, right) => +left - +right);
    expect(ids.map((id) => lab.show(id)["NumNodes"])).toEqual(["2-2", "1-1"]);
    const comments = ids.map((id) => lab.show(id)["Comment"]);
    expect(comments[0]).toBe(comments[1]);
  });

  test("meshes with different nodes are the components of one heterogeneous job", async () => {
    const meshes = { trainers: { hosts: 2, gpus: 2, cpus: 3 }, workers: { hosts: 1, memory: "1.5GiB" } };
    const ids = (await submit(lab, { meshes, partition: "urgent" })).sort();
    const [first, second] = ids.map((id) => lab.show(id));
    expect(first).toMatchObject({ HetJobOffset: "0", "CPUs/Task": "3", Partition: "urgent" });
    expect(first!["TresPerNode"]).toMatch(/^(gres:gpu:2|gres\/gpu:2)$/);
    expect(second).toMatchObject({ HetJobOffset: "1", "CPUs/Task": "1", Partition: "urgent" });
    expect(second!["MinMemoryNode"]).toMatch(/^(1536M|1\.50G)$/);
    expect(second!["HetJobId"]).toBe(first!["HetJobId"]);
    expect(second!["TresPerNode"]).toBe(undefined);
  });

  test("nodes are exclusive, unless the job shares them", async () => {
    const [exclusive] = await submit(lab, {});
    expect(lab.show(exclusive!)["OverSubscribe"]).toBe("NO");
    await lab.clear();
    const [shared] = await submit(lab, { exclusive: false });
    expect(lab.show(shared!)["OverSubscribe"]).toBe("OK");
  });

  test("partition, account, constraint, time limit and further arguments", async () => {
    const [id] = await submit(lab, {
      partition: "urgent",
      account: "physics",
      constraint: "fast",
      timeLimit: "90s",
      arguments: ["--nice=7", "--no-requeue"],
    });
    expect(lab.show(id!)).toMatchObject({
      Partition: "urgent",
      Account: "physics",
      Features: "fast",
      TimeLimit: "00:02:00",
      Nice: "7",
      Requeue: "0",
    });
  });

  test("the quality of service", async () => {
    const [id] = await submit(lab, { qos: "night" });
    // Slurm without a database of accounts forgets the quality of service, and keeps the script.
    const script = lab.cluster.run("scontrol", "write", "batch_script", id!, "-");
    expect(script.split("\n").filter((line) => line.includes("qos"))).toEqual(["#SBATCH --qos=night"]);
  });

  test("a constraint or a number of GPUs that no node has is an error with Slurm's words", async () => {
    const unknown = await lab.startDriver({ constraint: "moon" }).outcome();
    expect(unknown).toMatchObject({ name: "JobSubmitError" });
    expect(unknown.message).toContain("sbatch: error: Batch job submission failed: Invalid feature specification");
    const many = await lab.startDriver({ meshes: { workers: { hosts: 1, gpus: 3 } } }).outcome();
    expect(many).toMatchObject({ name: "JobSubmitError" });
    expect(many.message).toContain(
      "sbatch: error: Batch job submission failed: Requested node configuration is not available",
    );
    expect(lab.living()).toEqual([]);
  });

  test("each process sees its own GPU of those that Slurm has given to the job", async () => {
    // Somebody else has the first GPU of one node.
    await lab.occupyNow("--nodelist=n1", "--gpus-per-node=1", "--mem=100");
    const meshes = { workers: { hosts: 1, gpus: 1, memory: "1GiB" } };
    const driver = lab.startDriver({ meshes, exclusive: false, arguments: ["--nodelist=n1"], processes: 1 });
    const { gpus, message } = await driver.outcome();
    expect(message).toBe(undefined);
    expect(gpus).toEqual(["1"]);
  });

  test("a mesh with more processes than GPUs is an error that says how to share them", async () => {
    const driver = lab.startDriver({ meshes: { workers: { hosts: 1, gpus: 1 } }, exclusive: false });
    const { message } = await driver.outcome();
    expect(message).toContain(
      'the mesh has 2 processes along "gpus", and this host has 1 GPUs (CUDA_VISIBLE_DEVICES=0); set ' +
        "CUDA_VISIBLE_DEVICES with the option env to share GPUs",
    );
  });
});
