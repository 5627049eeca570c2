/** Tests of tasks that run on slices of virtual machines, for which hosts of jobs on this machine stand. */
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessJob } from "viceroy/job";
import { ClusterContext, sliceTypes, TaskError, WorkerLostError } from "viceroy/tasks";
import { describe, expect, test } from "vitest";
import { alwaysDie, alwaysFail, failAtFirst, loseHostAtFirst, where } from "../../fixtures/tasks/slices.js";

/** Describes a cluster whose jobs have one mesh, and the folder in which its tasks note their calls. */
function clusterOf(hosts: number) {
  const notes = mkdtempSync(join(tmpdir(), "slices-"));
  const folder = mkdtempSync(join(tmpdir(), "slices-cluster-"));
  const options = { meshes: { tpus: { hosts } }, env: { SLICE_NOTES: notes } };
  const cluster = new ClusterContext(ProcessJob, options, { folder });
  return { cluster, notes, [Symbol.asyncDispose]: () => cluster.close() };
}

describe("a task on slices", () => {
  test("is called once for each virtual machine of each slice, and the results are in their order", async () => {
    await using opened = clusterOf(2);
    const results = await opened.cluster.runOnTpu(where, { type: "v4-16", slices: 2 });
    expect(results.map((slice) => slice.map(({ at }) => at))).toEqual(
      [0, 1].map((slice) => [0, 1].map((vm) => ({ type: "v4-16", slice, slices: 2, vm, vms: 2, chips: 4 }))),
    );
    expect(new Set(results.flat().map(({ host }) => host)).size).toBe(4);
    expect(await opened.cluster.listJobs()).toEqual([]);
  });

  test("runs again on the whole slice after a call has thrown, or its process has ended; other slices run once", async () => {
    await using opened = clusterOf(2);
    const config = { type: "v4-16", slices: 2, maxRetriesFailure: 2, maxRetriesPreemption: 0 };
    expect(await opened.cluster.runOnTpu(failAtFirst, config)).toEqual([
      [
        ["0-0-1", "0-0-2", "0-0-3"],
        ["0-1-1", "0-1-2", "0-1-3"],
      ],
      [["1-0-1"], ["1-1-1"]],
    ]);
  });

  test("runs again on other machines after the daemon of a host was killed, which is no failure of the task", async () => {
    await using opened = clusterOf(2);
    const config = { type: "v4-16", maxRetriesFailure: 0, maxRetriesPreemption: 1 };
    expect(await opened.cluster.runOnTpu(loseHostAtFirst, config)).toEqual([[2, 2]]);
  });

  test("fails when machines have gone too often", async () => {
    await using opened = clusterOf(2);
    const config = { type: "v4-16", maxRetriesFailure: 10, maxRetriesPreemption: 0 };
    await expect(opened.cluster.runOnTpu(loseHostAtFirst, config)).rejects.toThrow(/loseHostAtFirst/);
    expect(readdirSync(opened.notes).toSorted()).toEqual(["0-0-1", "0-1-1"]);
  });

  test("fails when it has thrown too often", async () => {
    await using opened = clusterOf(1);
    const run = opened.cluster.runOnTpu(alwaysFail, { type: "v4-8", maxRetriesFailure: 2, maxRetriesPreemption: 0 });
    await expect(run).rejects.toThrow(TaskError);
    await expect(run).rejects.toThrow("machine 0 fails");
    expect(readdirSync(opened.notes)).toEqual(["0-0-1", "0-0-2", "0-0-3"]);
  });

  test("fails when its process has ended too often although the machine is there", async () => {
    await using opened = clusterOf(1);
    const run = opened.cluster.runOnTpu(alwaysDie, { type: "v4-8", maxRetriesFailure: 1, maxRetriesPreemption: 10 });
    await expect(run).rejects.toThrow(WorkerLostError);
    expect(readdirSync(opened.notes)).toEqual(["0-0-1", "0-0-2"]);
  });

  test("runs on types that the program describes, on the mesh that it names", async () => {
    const meshes = { pods: { hosts: 1 }, loaders: { hosts: 2 } };
    await using cluster = new ClusterContext(ProcessJob, { meshes });
    const types = { pod: { vms: 1, chipsPerVm: 8 } };
    const [slice] = await cluster.runOnTpu(where, { type: "pod", types, mesh: "pods" });
    expect(slice!.map(({ at }) => [at.vm, at.chips])).toEqual([[0, 8]]);
  });

  test("names what is wrong", async () => {
    const meshes = { tpus: { hosts: 2 }, others: { hosts: 1 } };
    await using cluster = new ClusterContext(ProcessJob, { meshes });
    const run = (config: object) => cluster.runOnTpu(where, config as { type: string });
    await expect(run({ type: "v9-8" })).rejects.toThrow(
      /^cannot run where on "v9-8": expected one of the types v2-8, .*, v4-32, .*, v6e-256; describe other types with the option types$/,
    );
    await expect(run({ type: "v4-8", slices: 0 })).rejects.toThrow(
      new RangeError('cannot run where on "v4-8": expected slices as a whole number of at least 1, got 0'),
    );
    await expect(run({ type: "v4-8", retries: 1 })).rejects.toThrow(
      'expected one of the options type, slices, mesh, maxRetriesPreemption, maxRetriesFailure, types, got "retries"',
    );
    await expect(run({ type: "v4-8" })).rejects.toThrow(
      new TypeError(
        'cannot run where on "v4-8": expected the option mesh as one of the meshes tpus, others, got undefined',
      ),
    );
    await expect(run({ type: "v4-32", mesh: "tpus" })).rejects.toThrow(
      new TypeError(
        'cannot run where on "v4-32": expected mesh tpus with 4 hosts, one for each virtual machine of a slice of type v4-32, got 2',
      ),
    );
  });
});

test("types of slices have the machines and chips of the public documentation", () => {
  const size = (type: string) => [sliceTypes[type]!.vms, sliceTypes[type]!.chipsPerVm];
  const sizes = ["v2-8", "v3-32", "v4-8", "v4-32", "v4-4096", "v5p-12288"].map(size);
  expect(sizes).toEqual([
    [1, 4],
    [4, 4],
    [1, 4],
    [4, 4],
    [512, 4],
    [1536, 4],
  ]);
  expect(["v5litepod-1", "v5litepod-8", "v5litepod-16", "v6e-8", "v6e-256"].map(size)).toEqual([
    [1, 1],
    [1, 8],
    [4, 4],
    [1, 8],
    [64, 4],
  ]);
});
