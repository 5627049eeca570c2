/** Tests of `thisJob`, which processes in a job call, and of `attach` with a record. */
import { join } from "node:path";
import { thisHost } from "viceroy";
import { attach, type JobRecord, ProcessJob, thisJob } from "viceroy/job";
import { afterEach, beforeAll, expect, test } from "vitest";
import { type Crew, loadCrew, project } from "../proc/crew.js";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { newCache } from "./job-program.js";

let crew: Crew;
collectUnhandledFaults();
beforeAll(async () => {
  crew = await loadCrew();
});

const meshes = { workers: { hosts: 1 } };
const jobs: ProcessJob<string>[] = [];
afterEach(async () => {
  await Promise.all(jobs.splice(0).map((job) => job.kill()));
});

function makeJob(cache: string | null): ProcessJob<"workers"> {
  const job = new ProcessJob({ meshes, cache, progress: "silent" });
  jobs.push(job as unknown as ProcessJob<string>);
  return job;
}

const bootstrap = join(project, "programs/find-this-job.ts");

/** Returns what a process on the host of a job says about its job. */
async function saidIn(job: ProcessJob<"workers">): Promise<string> {
  const { workers } = await job.state();
  const procs = workers.spawnProcs({}, { bootstrap });
  return procs.spawn("finder", crew.SteelWorker).slice({ hosts: 0 }).env.callOne("THIS_JOB");
}

test("a process on a host of a job gets the job", async () => {
  const job = makeJob(newCache());
  expect(await saidIn(job)).toBe(job.applyId);
});

test("a process outside of any job gets none", async () => {
  expect(thisJob()).toBe(undefined);
  await using procs = thisHost().spawnProcs({}, { bootstrap });
  expect(await procs.spawn("finder", crew.SteelWorker).env.callOne("THIS_JOB")).toBe("none");
});

test("in a job without a cache there is no record, which is an error that says so", async () => {
  const job = makeJob(null);
  expect(await saidIn(job)).toBe(
    `JobCacheError: cannot use the job cache of job ${job.applyId}: the job has none; give it a file with the option cache`,
  );
});

test("a record is attached like the job that it describes", async () => {
  const job = makeJob(newCache());
  await job.apply();
  const record = job.toJSON()!;
  const { workers } = await attach<"workers">(record);
  const worker = workers.spawnProcs().spawn("worker", crew.SteelWorker).slice({ hosts: 0 });
  expect(await worker.env.callOne("VICEROY_JOB_MESH")).toBe("workers");
  expect(() => attach({ ...record, provider: "cloud" })).toThrow(
    'cannot read the record of a job: Viceroy 0.1.0 has written it for the provider "cloud", which is not known here',
  );
  expect(() => attach({} as JobRecord)).toThrow("cannot read the record of a job: ");
});
