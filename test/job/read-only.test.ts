/** Tests of programs and commands that only look at a job. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attach, JobReadOnlyError, ProcessJob } from "viceroy/job";
import { afterAll, beforeAll, expect, test } from "vitest";
import { credentialsFolder } from "../../runtime/job/credentials/credentials-folder.js";
import {
  createCredentials,
  issueShared,
  openDriverCredentials,
  saveShared,
  sharedNames,
} from "../../runtime/job/credentials/index.js";
import { FileCredentials } from "../../runtime/link/transport/tls/credentials.js";
import { compileCrew } from "../proc/crew.js";
import { limitUnderLoad, until } from "../proc/until.js";
import { type JobPlace, startViceroyJob, viceroyJob } from "./batch-driver.js";
import { newCache } from "./job-program.js";

const timeout = limitUnderLoad(60_000, 240_000);
const cache = newCache();
const options = { meshes: { workers: { hosts: 2 } }, cache, progress: "silent" as const };
const place: JobPlace = { job: "process", cache, options: { meshes: options.meshes } };
const owner = new ProcessJob(options);

beforeAll(async () => {
  await compileCrew();
  const { workers } = await owner.state();
  await workers.stop();
});
afterAll(() => owner.kill());

const again = (verb: string, why: string) =>
  `cannot ${verb}: ${why}; make another job of the same options for that (job "viceroy")`;

test("a program that has attached a job read-only sees its hosts, and can neither use nor end them", {
  timeout,
}, async () => {
  const job = new ProcessJob<"workers">(options);
  const { workers } = await attach(job, { readOnly: true });
  const described = await workers.describe();
  expect(described.map(({ drivers }) => drivers.map(({ readOnly }) => readOnly))).toEqual([[true], [true]]);
  expect(() => workers.spawnProcs()).toThrow("cannot spawn procs: this program has attached mesh");
  const why = "this program has attached it read-only";
  const attempts: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["kill it", () => job.kill()],
    ["resize it", () => job.resize({ workers: 3 })],
    ["submit it", () => job.apply()],
    ["detach from it", () => job.detach()],
    ["run a command in it", () => job.run(["true"])],
    ["run a script in it", () => job.spmd({}, ["true"])],
    ["attach it with all rights", () => attach(job)],
  ];
  for (const [verb, attempt] of attempts) {
    const error = await attempt().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JobReadOnlyError);
    expect((error as Error).message).toBe(again(verb, why));
  }
  // The end of a block leaves the job.
  await job[Symbol.asyncDispose]();
  expect(await owner.find()).toBeDefined();
});

test("a program that uses a job cannot look at it only, and a wrong option is refused", { timeout }, async () => {
  const job = new ProcessJob<"workers">(options);
  const { workers } = await attach(job);
  await expect(attach(job, { readOnly: true })).rejects.toThrow(
    again("attach it read-only", "this program uses it with all rights already"),
  );
  await workers.stop();
  await expect(attach(job, { readOnly: 1 as never })).rejects.toThrow(
    'cannot attach job "viceroy": expected readOnly as true or false, got 1',
  );
});

test("a job that does not run is never submitted by who only looks", { timeout }, async () => {
  const job = new ProcessJob({ ...options, cache: newCache() });
  await expect(attach(job, { readOnly: true })).rejects.toThrow("nothing of it runs");
  await expect(job.state()).rejects.toThrow(again("submit it", "this program has attached it read-only"));
});

test("the commands that look say who uses the hosts, and print logs", { timeout }, async () => {
  const { code, out, err } = await viceroyJob(place, "state", "--read-only");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^workers\[0\] {2}process \d+ on .+$/m);
  expect(out).toMatch(/^ {2}viewer, attached \d{4}-.+Z: process \d+ of user .+, Viceroy /m);
  expect(out).not.toContain("driver, attached");
  const json = JSON.parse((await viceroyJob(place, "state", "--read-only", "--json")).out);
  expect(json.hosts.map(({ host }: { host: string }) => host)).toEqual(["workers[0]", "workers[1]"]);
  expect(json.hosts[0].drivers[0]).toMatchObject({ readOnly: true, processes: [] });
  expect("actors" in json).toBe(false);
  expect((await viceroyJob(place, "logs", "--read-only")).out).toContain("attached read-only: process ");
  const refused = await viceroyJob(place, "exec", "--read-only", "--", "true");
  expect(refused.code).toBe(3);
  expect(refused.err).toContain("unknown option '--read-only'");
});

test("while a command uses the hosts, viewers see it", { timeout }, async () => {
  const command = startViceroyJob(place, "exec", "--rank", "0", "--", "sleep", "1000");
  await until(async () => / {2}driver, attached /.test((await viceroyJob(place, "state", "--read-only")).out));
  command.kill();
});

test("viewers get a certificate of their own, on the machine of the job and on others", async () => {
  const folder = credentialsFolder(mkdtempSync(join(tmpdir(), "vr-")));
  const elsewhere = mkdtempSync(join(tmpdir(), "vr-"));
  const identityOf = (files: ConstructorParameters<typeof FileCredentials>[0]) =>
    new FileCredentials(files).current().identity;
  try {
    createCredentials(folder, "3f9c", [{ mesh: "workers", rank: 0 }], 60_000);
    const own = openDriverCredentials(folder, 60_000, "viewer");
    expect(identityOf(own.files)).toEqual({ job: "3f9c", role: "viewer" });
    own.close();
    const driver = openDriverCredentials(folder, 60_000, "driver");
    expect(identityOf(driver.files)).toEqual({ job: "3f9c", role: "driver" });
    driver.close();
    const shared = issueShared(folder, "viewers");
    expect(Object.keys(shared)).toEqual(["authority.pem", "viewer.pem", "viewer.key"]);
    expect(Object.keys(issueShared(folder, "drivers"))).toEqual(sharedNames("drivers"));
    saveShared(elsewhere, "viewers", shared);
    const there = openDriverCredentials(elsewhere, 60_000, "viewer");
    expect(identityOf(there.files)).toEqual({ job: "3f9c", role: "viewer" });
    // Who has the Secret for viewers has nothing for a driver.
    expect(() => openDriverCredentials(elsewhere, 60_000, "driver")).toThrow(/authority\.key/);
  } finally {
    for (const made of [folder, elsewhere]) rmSync(made, { recursive: true, force: true });
  }
});
