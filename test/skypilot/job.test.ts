/** Tests of the hosts of a job of SkyPilot, on a cloud whose machines are processes of this machine (lab/local-cloud.ts). */

import type { SkyPilotJob } from "viceroy/job";
import { expect, test } from "vitest";
import { collectUnhandledFaults } from "../proc/unhandled-faults.js";
import { LocalCloud } from "./lab/local-cloud.js";
import { eventsOf, localJob } from "./lab/local-job.js";

const faults = collectUnhandledFaults();

/** Returns the hosts that have printed where they listen. */
async function listening(job: SkyPilotJob<string>): Promise<string[]> {
  const places: string[] = [];
  for await (const { mesh, rank, line } of job.logs()) if (line.includes("listens at")) places.push(`${mesh}[${rank}]`);
  return places.sort();
}

test("hosts announce themselves in the log of their cluster, and are attached", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud);
  const trainers = (await job.state())["trainers"]!;
  expect(trainers.extent).toEqual({ hosts: 2 });
  const [name] = [...cloud.clusters.keys()];
  expect(name).toMatch(/^train-[0-9a-f]{8}$/);
  await expect.poll(() => listening(job), { timeout: 20_000 }).toEqual(["trainers[0]", "trainers[1]"]);
  await job.kill();
  expect([...cloud.clusters.keys()]).toEqual([]);
}, 60_000);

test("a machine that is taken away is replaced at its rank, and the hosts on the other machines go on", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud, { meshes: { trainers: { hosts: 3 } } });
  const trainers = (await job.state())["trainers"]!;
  const events = eventsOf(job);
  const [name] = [...cloud.clusters.keys()];
  cloud.preempt(name!, 1);
  await expect.poll(() => events.find((event) => event.startsWith("host-replaced")), { timeout: 50_000 }).toBeDefined();
  const replaced = events.filter((event) => event.startsWith("host-replaced"));
  // The new machine is the fourth, and has the first number of the cluster now.
  expect(replaced).toEqual([expect.stringMatching(/^host-replaced 1: it listens at tls:\/\/[\d.]+\.4:20000#viceroy:/)]);
  expect(events).toContainEqual(
    `pending : cluster ${name} is launched again to replace trainers[1]: one or more nodes terminated`,
  );
  expect(trainers.extent).toEqual({ hosts: 3 });
  const announced = cloud.clusters
    .get(name!)!
    .jobs.at(-1)!
    .lines.filter((line) => line.includes("viceroy-host "));
  // Those that went on say what they said before.
  const incarnations = announced.map((line) => (/"incarnation":(\d+)/.exec(line) ?? [])[1]);
  expect(new Set(incarnations).size).toBe(2);
}, 90_000);

test("a host whose daemon is killed is started again on its machine", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud);
  await job.state();
  const events = eventsOf(job);
  const [name] = [...cloud.clusters.keys()];
  cloud.killProcesses(name!, 0, () => true);
  await expect
    .poll(() => events.find((event) => event.startsWith("host-replaced 0")), { timeout: 50_000 })
    .toBeDefined();
}, 90_000);

test("hosts that end by themselves again are started after a pause, which is told", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud);
  await job.state();
  const events = eventsOf(job);
  const [name] = [...cloud.clusters.keys()];
  const replacements = () => events.filter((event) => event.startsWith("host-replaced 0")).length;
  for (let round = 1; round <= 2; round++) {
    cloud.killProcesses(name!, 0, () => true);
    await expect.poll(replacements, { timeout: 60_000 }).toBe(round);
  }
  expect(events.filter((event) => event.includes(" is launched again in "))).toEqual([
    `pending : cluster ${name} is launched again in 4 s: hosts have ended by themselves again within 10 minutes`,
  ]);
}, 150_000);

test("a mesh that waits for hosts of a cluster that somebody has stopped ends with what starts it again", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud);
  const trainers = (await job.state())["trainers"]!;
  await trainers.spawnProcs({}, { restart: { policy: "on-failure", maxRestarts: 10 } }).ready;
  const [name] = [...cloud.clusters.keys()];
  await cloud.stop(name!);
  await expect
    .poll(() => faults.map(String), { timeout: 50_000 })
    .toContainEqual(expect.stringContaining(`cluster ${name} was stopped; apply the job again to start it`));
}, 90_000);

test("meshes that ask for other machines are clusters of their own, and meshes with equal machines share one", async () => {
  const cloud = await LocalCloud.start();
  const meshes = { trainers: { hosts: 1, cpus: 2 }, loaders: { hosts: 1 }, checkers: { hosts: 1 } };
  const job = localJob(cloud, { meshes });
  const state = await job.state();
  expect(Object.keys(state)).toEqual(["trainers", "loaders", "checkers"]);
  const sizes = [...cloud.clusters.values()].map(({ name, machines }) => [name.slice(-2), machines.length]);
  expect(sizes.sort()).toEqual([
    ["-1", 1],
    ["-2", 2],
  ]);
}, 60_000);

test("hosts without certificates want the token of the job", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud, { tls: false });
  await job.state();
  expect(cloud.tasks[0]!.secrets["VICEROY_SKYPILOT_SECRETS"]).toMatch(
    /^\{"viceroy:\/\/[^"]+\/hosts\/trainers\/0":"[\w-]{43}",/,
  );
}, 60_000);

test("machines that were stopped start again with the next state of the job", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud);
  await job.state();
  await job.stop();
  const [cluster] = [...cloud.clusters.values()];
  expect(cluster!.status).toBe("STOPPED");
  expect(job.active).toBe(false);
  const trainers = (await job.state())["trainers"]!;
  expect(trainers.extent).toEqual({ hosts: 2 });
  expect(cloud.clusters.size).toBe(1);
  expect(cluster!.status).toBe("UP");
}, 90_000);

test("machines that cannot stop go on, and the reason is SkyPilot's", async () => {
  const cloud = await LocalCloud.start({ cannotStop: true });
  const job = localJob(cloud);
  await job.state();
  const [name] = [...cloud.clusters.keys()];
  await expect(job.stop()).rejects.toThrow(
    `cannot stop job "train": cannot stop cluster "${name}": SkyPilot says: Local does not support stopping (NotSupportedError)`,
  );
  expect((await job.state())["trainers"]!.extent).toEqual({ hosts: 2 });
}, 90_000);

test("a program that has left a job watches it again until it is killed", async () => {
  const cloud = await LocalCloud.start({ cannotStop: true });
  const job = localJob(cloud);
  await job.state();
  await job.stop().catch(() => {});
  const events: string[] = [];
  const watching = (async () => {
    for await (const { kind, reason } of job.watch()) events.push(`${kind}: ${reason}`);
  })();
  await job.kill();
  await watching;
  expect(events.at(-1)).toBe("ended: it was killed");
}, 90_000);

test("a job whose cluster somebody takes down has ended, and says so", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud, { hostTimeout: { lost: 0 } });
  await job.state();
  const events = eventsOf(job);
  const [name] = [...cloud.clusters.keys()];
  await cloud.down(name!);
  await expect.poll(() => events, { timeout: 50_000 }).toContainEqual(`ended : cluster ${name} was taken down`);
  expect(await job.find()).toBe(undefined);
}, 90_000);

test("what hosts have printed can be read after the end of the job", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud);
  await job.state();
  await expect.poll(() => listening(job), { timeout: 20_000 }).toEqual(["trainers[0]", "trainers[1]"]);
  await job.kill();
  expect(await listening(job)).toEqual(["trainers[0]", "trainers[1]"]);
}, 60_000);
