/** Tests of launches of a job of SkyPilot that fail, are interrupted, or are found again, on a local cloud (lab/local-cloud.ts). */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { SkyPilotJob } from "viceroy/job";
import { expect, onTestFinished, test } from "vitest";
import { LocalCloud } from "./lab/local-cloud.js";
import { eventsOf, type LocalJobOptions, localJob, localOptions } from "./lab/local-job.js";

const driver = fileURLToPath(new URL("lab/local-driver.mjs", import.meta.url));

/** A driver in a process of its own. */
interface Driver {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<NodeJS.Signals | null>;
}

function startDriver(options: LocalJobOptions): Driver {
  const child = spawn(process.execPath, [driver, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (part: Buffer) => lines.push(...part.toString().trimEnd().split("\n")));
  }
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once("close", (_code, signal) => resolve(signal)),
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  return { process: child, lines, ended };
}

/** A gate at which launches wait. */
function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

test("a launch that fails ends in SkyPilot's words, and nothing is left", async () => {
  const cloud = await LocalCloud.start({
    launching: () =>
      Promise.reject(Object.assign(new Error("no H100 in any region"), { name: "ResourcesUnavailableError" })),
  });
  const job = localJob(cloud);
  await expect(job.state()).rejects.toThrow(
    /^cannot start job "train": cannot launch cluster "train-[0-9a-f]{8}": SkyPilot says: no H100 in any region \(ResourcesUnavailableError\)$/,
  );
  expect(cloud.clusters.size).toBe(0);
  expect(await job.find()).toBe(undefined);
}, 60_000);

test("if one of two clusters cannot be launched, the other one is taken down", async () => {
  const refused = Object.assign(new Error("no H100 in any region"), { name: "ResourcesUnavailableError" });
  const cloud = await LocalCloud.start({
    launching: (cluster) => (cluster.endsWith("-2") ? Promise.reject(refused) : Promise.resolve()),
  });
  const job = localJob(cloud, { meshes: { loaders: { hosts: 1 }, trainers: { hosts: 1, gpus: "H100:8" } } });
  await expect(job.state()).rejects.toThrow(
    /^cannot start job "train": cannot launch cluster "train-[0-9a-f]{8}-2": SkyPilot says: no H100 in any region \(ResourcesUnavailableError\)$/,
  );
  expect(cloud.tasks).toHaveLength(2);
  expect(cloud.clusters.size).toBe(0);
  expect(await job.find()).toBe(undefined);
}, 60_000);

test("a machine without Node.js says so, and what to do", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud, { node: "no-such-node" });
  await expect(job.state()).rejects.toThrow(
    /the job of SkyPilot on cluster train-\w+ has ended; its output ends with: .*viceroy host: cannot start on machine \S+: there is no Node\.js: the shell finds no program no-such-node; install it with the option setup, use an image that has it, or name it with the option node/s,
  );
  expect(cloud.clusters.size).toBe(0);
}, 60_000);

test("a machine whose Node.js is too old says so, and what to do", async () => {
  const cloud = await LocalCloud.start();
  const setup = "printf '#!/bin/sh\\necho v18.2.0\\n' > old && chmod +x old && PATH=$PWD:$PATH";
  const job = localJob(cloud, { node: "old", setup });
  await expect(job.state()).rejects.toThrow(
    /Node\.js 18\.2\.0 is too old, 20\.9 is the oldest that works; install another one with the option setup, or name it with the option node/,
  );
}, 60_000);

test.each(["SIGINT", "SIGTERM"] as const)(
  "a driver that %s ends while it launches takes everything down before",
  async (signal) => {
    const launching = gate();
    const cloud = await LocalCloud.start({ launching: () => launching.passed });
    const started = startDriver(localOptions(cloud));
    await expect.poll(() => started.lines.join("\n"), { timeout: 30_000 }).toContain(": Launching");
    started.process.kill(signal);
    expect(await started.ended).toBe(signal);
    expect(started.lines).toContain(`viceroy: interrupted by ${signal}; takes down what job "train" has launched`);
    expect(started.lines).toContain('viceroy: nothing of job "train" is left');
    expect(cloud.clusters.size).toBe(0);
  },
  60_000,
);

test("a launch whose driver was killed is used by the next driver", async () => {
  const launching = gate();
  const cloud = await LocalCloud.start({ launching: () => launching.passed });
  const options = localOptions(cloud);
  const started = startDriver(options);
  await expect.poll(() => cloud.tasks.length, { timeout: 30_000 }).toBe(1);
  started.process.kill("SIGKILL");
  await started.ended;
  const job = localJob(cloud, options);
  const state = job.state();
  await expect.poll(() => cloud.asked.filter((each) => each === "GET /api/stream").length).toBeGreaterThan(0);
  launching.open();
  expect((await state)["trainers"]!.extent).toEqual({ hosts: 2 });
  expect(cloud.tasks.length).toBe(1);
}, 60_000);

test("a launch that ends with its API server is begun again", async () => {
  const launching = gate();
  const cloud = await LocalCloud.start({
    launching: (_, attempt) => (attempt === 1 ? launching.passed : Promise.resolve()),
  });
  const job = localJob(cloud);
  const events = eventsOf(job);
  const state = job.state();
  await expect.poll(() => cloud.asked).toContain("GET /api/stream");
  cloud.forget();
  launching.open();
  expect((await state)["trainers"]!.extent).toEqual({ hosts: 2 });
  const [name] = [...cloud.clusters.keys()];
  expect(events).toContain(
    `pending : cluster ${name} is launched again: the API server was started again during the launch`,
  );
}, 60_000);

test("a launch whose driver was killed is taken down by kill", async () => {
  const launching = gate();
  const cloud = await LocalCloud.start({ launching: () => launching.passed });
  const options = localOptions(cloud);
  const started = startDriver(options);
  await expect.poll(() => cloud.tasks.length, { timeout: 30_000 }).toBe(1);
  started.process.kill("SIGKILL");
  await started.ended;
  const job = localJob(cloud, options);
  await job.kill();
  expect(cloud.clusters.size).toBe(0);
  await job.kill();
}, 60_000);

test("the hosts of a driver that was killed are used by the next one", async () => {
  const cloud = await LocalCloud.start();
  const options = localOptions(cloud);
  const started = startDriver(options);
  await expect.poll(() => started.lines, { timeout: 30_000 }).toContain("attached");
  started.process.kill("SIGKILL");
  await started.ended;
  const job = localJob(cloud, options);
  expect((await job.state())["trainers"]!.extent).toEqual({ hosts: 2 });
  expect(cloud.tasks.length).toBe(1);
}, 60_000);

test("a cluster that somebody has stopped is started again by the next driver", async () => {
  const cloud = await LocalCloud.start();
  const options = localOptions(cloud);
  const first = startDriver(options);
  await expect.poll(() => first.lines, { timeout: 50_000 }).toContain("attached");
  const [cluster] = [...cloud.clusters.values()];
  await cloud.stop(cluster!.name);
  first.process.kill("SIGKILL");
  await first.ended;
  const job = localJob(cloud, options);
  expect((await job.state())["trainers"]!.extent).toEqual({ hosts: 2 });
  expect(cluster!.status).toBe("UP");
  expect(cloud.clusters.size).toBe(1);
}, 120_000);

test("a command is refused, because nothing would run it", async () => {
  const cloud = await LocalCloud.start();
  await expect(localJob(cloud).run(["node", "train.js"])).rejects.toThrow(
    'cannot submit job "train": a job of SkyPilot runs no command by itself; run the program here, or on a machine that SkyPilot has launched for it',
  );
});

test("without an API server, nothing is submitted", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud, { endpoint: "http://127.0.0.1:9" });
  await expect(job.apply()).rejects.toThrow(
    /^cannot submit job "train": cannot use SkyPilot: the SkyPilot API server at http:\/\/127\.0\.0\.1:9 does not answer: .*; start one with "sky api start", or name another one with SKYPILOT_API_SERVER_ENDPOINT$/,
  );
});

test("a name that is taken is found out before anything is launched", async () => {
  const cloud = await LocalCloud.start({ isTaken: true });
  await expect(localJob(cloud, { cache: null }).apply()).rejects.toThrow(
    /^cannot submit job "train": there is a cluster (train-[0-9a-f]{8}) of SkyPilot already; take it down with "sky down \1"$/,
  );
  expect(cloud.tasks).toEqual([]);
});

test("a program that knows a job with secrets only by its record cannot launch it again, and says so", async () => {
  const cloud = await LocalCloud.start();
  const job = localJob(cloud, { secrets: { TOKEN: "hidden" } });
  await job.state();
  expect(cloud.tasks[0]!.secrets["TOKEN"]).toBe("hidden");
  const record = job.toJSON()!;
  expect(JSON.stringify(record)).not.toContain("hidden");
  await job.stop();
  const other = SkyPilotJob.fromJSON(record);
  await expect(other.state()).rejects.toThrow(
    'cannot launch a cluster of job "train": this program does not know its secrets TOKEN, which are not recorded; ' +
      "use the program that has them in the options of the job",
  );
}, 60_000);
