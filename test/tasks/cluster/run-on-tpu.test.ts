/** Tests of tasks that run on slices of virtual machines, for which hosts and processes of this machine stand. */
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessJob } from "viceroy/job";
import { JobContext, ResourceUnavailableError, runOnTpu, sliceTypes, TaskError, WorkerLostError } from "viceroy/tasks";
import { describe, expect, test } from "vitest";
import { alwaysDie, alwaysFail, failAtFirst, where } from "../../fixtures/tasks/slices.js";

/** Opens a context on this machine, which stands for several virtual machines. */
async function openFor(resources: Record<string, number>, isolation: "process" | "inline" = "process") {
  const notes = mkdtempSync(join(tmpdir(), "slices-"));
  process.env["SLICE_NOTES"] = notes;
  const procs = Object.values(resources)[0]!;
  const environment = isolation === "inline" ? {} : { environment: { env: { SLICE_NOTES: notes } } };
  const context = await JobContext.open({ procs, isolation, resources, ...environment });
  return { context, notes, [Symbol.asyncDispose]: () => context.close() };
}

describe("a task on slices", () => {
  test("is called once for each virtual machine of each slice, and the results are in their order", async () => {
    await using opened = await openFor({ "v4-32": 8 }, "inline");
    const results = await runOnTpu(opened.context, where, { type: "v4-32", slices: 2 });
    expect(results.map((slice) => slice.map(({ at }) => at))).toEqual(
      [0, 1].map((slice) => [0, 1, 2, 3].map((vm) => ({ type: "v4-32", slice, slices: 2, vm, vms: 4, chips: 4 }))),
    );
  });

  test("runs on a host for each machine, if each host offers one", async () => {
    await using job = new ProcessJob({ meshes: { tpus: { hosts: 2 } }, cache: null, progress: "silent" });
    const { tpus } = await job.state();
    await using context = await JobContext.open({ hosts: tpus, procs: 2, resources: { "v4-16": 1 } });
    const [slice] = await runOnTpu(context, where, { type: "v4-16" });
    expect(new Set(slice!.map(({ host }) => host)).size).toBe(2);
  });

  test("waits for the machines of another slice, if there are not enough for both", async () => {
    await using opened = await openFor({ "v4-16": 2 }, "inline");
    const results = await runOnTpu(opened.context, where, { type: "v4-16", slices: 3 });
    expect(results.map((slice) => slice.length)).toEqual([2, 2, 2]);
  });

  test("runs again on the whole slice after a call has thrown, or a process has gone; other slices run once", async () => {
    await using opened = await openFor({ "v4-16": 4 });
    const config = { type: "v4-16", slices: 2, maxRetriesFailure: 1, maxRetriesPreemption: 1 };
    expect(await runOnTpu(opened.context, failAtFirst, config)).toEqual([
      [
        ["0-0-1", "0-0-2", "0-0-3"],
        ["0-1-1", "0-1-2", "0-1-3"],
      ],
      [["1-0-1"], ["1-1-1"]],
    ]);
  });

  test("fails when it has thrown too often", async () => {
    await using opened = await openFor({ "v4-8": 1 }, "inline");
    const run = runOnTpu(opened.context, alwaysFail, { type: "v4-8", maxRetriesFailure: 2, maxRetriesPreemption: 0 });
    await expect(run).rejects.toThrow(TaskError);
    await expect(run).rejects.toThrow("machine 0 fails");
    expect(readdirSync(opened.notes)).toEqual(["0-0-1", "0-0-2", "0-0-3"]);
  });

  test("fails when machines have gone too often", async () => {
    await using opened = await openFor({ "v4-8": 1 });
    const run = runOnTpu(opened.context, alwaysDie, { type: "v4-8", maxRetriesFailure: 0, maxRetriesPreemption: 2 });
    await expect(run).rejects.toThrow(WorkerLostError);
    expect(readdirSync(opened.notes)).toEqual(["0-0-1", "0-0-2", "0-0-3"]);
  });

  test("runs on types that the program describes", async () => {
    await using opened = await openFor({ pod: 3 }, "inline");
    const types = { pod: { vms: 3, chipsPerVm: 8 } };
    const [slice] = await runOnTpu(opened.context, where, { type: "pod", types });
    expect(slice!.map(({ at }) => [at.vm, at.chips])).toEqual([
      [0, 8],
      [1, 8],
      [2, 8],
    ]);
  });

  test("names what is wrong", async () => {
    await using opened = await openFor({ "v4-8": 1 }, "inline");
    const run = (config: object) => runOnTpu(opened.context, where, config as { type: string });
    await expect(run({ type: "v9-8" })).rejects.toThrow(
      /^cannot run where on "v9-8": expected one of the types v2-8, .*, v4-32, .*, v6e-256; describe other types with the option types$/,
    );
    await expect(run({ type: "v4-8", slices: 0 })).rejects.toThrow(
      new RangeError('cannot run where on "v4-8": expected slices as a whole number of at least 1, got 0'),
    );
    await expect(run({ type: "v4-8", retries: 1 })).rejects.toThrow(
      'expected one of the options type, slices, maxRetriesPreemption, maxRetriesFailure, types, got "retries"',
    );
    const lacking = run({ type: "v4-32" });
    await expect(lacking).rejects.toThrow(ResourceUnavailableError);
    await expect(lacking).rejects.toThrow(
      'cannot run where on "v4-32": a slice has 4 virtual machines, and the hosts of the context do not offer as many; open ' +
        'the context with resources: { "v4-32": 1 }, so that each host is one: ',
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
