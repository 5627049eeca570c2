/** Tests of meshes that outlive their driver: a program detaches and ends, and other programs find its meshes. */
import { lookup } from "viceroy";
import { attach, ProcessJob } from "viceroy/job";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { loadProject, project, startOrdered } from "../host/publish/programs.js";
import type { IndexMesh } from "../host/publish/project/generated/index.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { gone, until } from "../proc/until.js";
import { newCache, processesOf } from "./job-program.js";

collectUnhandledFaults();
beforeAll(async () => {
  await loadProject();
});

const jobs: ProcessJob<string>[] = [];
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
});

const meshes = { workers: { hosts: 2 }, loaders: { hosts: 1 } };
type Shards = IndexMesh<"hosts" | "shards">;

/** Starts a program with a job, and makes the same job in this process. */
async function startOwner(further: object = {}) {
  const options = { meshes, cache: newCache(), progress: "silent" as const, ...further };
  const job = new ProcessJob(options);
  jobs.push(job as unknown as ProcessJob<string>);
  const owner = await startOrdered(project, [process.execPath], "job-owner.ts", [JSON.stringify(options)]);
  const { applyId } = (await owner.order("state")) as { applyId: string };
  return { job, owner, applyId };
}

async function startDetached(further: object = {}) {
  const started = await startOwner(further);
  const { owner } = started;
  await owner.order("spawn", "shelves", "workers", "2");
  await owner.order("actors", "index", "shelves");
  await owner.order("publish", "index", "index");
  await owner.order("add", "index", "tea");
  const pids = (await owner.order("where", "index")) as number[];
  await owner.order("detach");
  return { ...started, pids };
}

describe("a mesh outlives its driver", () => {
  test("another program attaches the job, and finds the mesh with its processes and its state", async () => {
    const { job, owner, pids } = await startDetached();
    owner.child.kill("SIGKILL");
    await owner.exited;
    await attach(job);
    const index = await lookup<Shards>("index");
    expect(index.extent).toEqual({ hosts: 2, shards: 2 });
    expect([...(await index.add.call("tea")).values()]).toEqual([2, 2, 2, 2]);
    expect([...(await index.where.call()).values()].map(({ pid }) => pid)).toEqual(pids);
  });
});
