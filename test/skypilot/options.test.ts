/** Tests of the options of jobs of SkyPilot, and of the tasks that follow from them. */
import { expect, test } from "vitest";
import { providerOfJob } from "../../runtime/job/job.js";
import { ProcessJob } from "../../runtime/job/process/process-job.js";
import { SkyPilotJob, type SkyPilotJobOptions } from "../../runtime/job/skypilot/skypilot-job.js";
import type { SkyPilotSpec } from "../../runtime/job/skypilot/skypilot-spec.js";
import { planClusters } from "../../runtime/job/skypilot/task/plan-clusters.js";
import { taskManifest } from "../../runtime/job/skypilot/task/task-manifest.js";

const meshes = { trainers: { hosts: 1 } };

function specOf(options: SkyPilotJobOptions<string>): SkyPilotSpec {
  return providerOfJob(new SkyPilotJob(options)).spec as unknown as SkyPilotSpec;
}

function messageOf(options: object): string {
  try {
    new SkyPilotJob({ meshes, ...options } as SkyPilotJobOptions<string>);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("the options were accepted");
}

const refused: readonly (readonly [object, string])[] = [
  [
    { meshes: { trainers: { hosts: 0 } } },
    'cannot make a job: expected hosts of mesh "trainers" as a whole number from 1 to 100000, got 0',
  ],
  [
    { meshes: { a: { hosts: 1, gpus: 8 } } },
    'cannot make a job: expected gpus of mesh "a" as text such as "H100:8" or "L4", got 8',
  ],
  [
    { meshes: { a: { hosts: 1, spot: "yes" } } },
    'cannot make a job: expected spot of mesh "a" as true or false, got "yes"',
  ],
  [
    { meshes: { a: { hosts: 1, disk: 0.5 } } },
    'cannot make a job: expected disk of mesh "a" as a whole number of GB, got 0.5',
  ],
  [{ meshes: { a: { hosts: 1, image: "" } } }, 'cannot make a job: expected image of mesh "a" as one word, got ""'],
  [{ clusters: "one" }, 'cannot make a job: expected clusters "shared" or "each", got "one"'],
  [{ infra: ["aws", 5] }, 'cannot make a job: expected infra as text such as "aws/us-east-1", or a list of them, got'],
  [{ envs: { A: 1 } }, "cannot make a job: expected A of envs as text, got 1"],
  [
    { secrets: { SKYPILOT_X: "1" } },
    "cannot make a job: expected the names of secrets as those of variables that do not begin with VICEROY_ or SKYPILOT_, got",
  ],
  [
    { mounts: { data: "s3://data" } },
    "cannot make a job: expected the names of mounts as absolute paths, or paths below ~, got",
  ],
  [
    { mounts: { "/data": "./data" } },
    "cannot make a job: expected the source of the mount /data as the URL of a bucket; files of this machine come with the code, by include of the option sync, got",
  ],
  [
    { mounts: { "/data": { source: "s3://data", mode: "LINK" } } },
    'cannot make a job: expected mode of the mount /data as "MOUNT", "MOUNT_CACHED" or "COPY", got "LINK"',
  ],
  [
    { ports: ["8010-8000"] },
    'cannot make a job: expected ports as a list of ports and ranges such as "8000-8010", got',
  ],
  [{ autostop: { after: "5m", down: 1 } }, "cannot make a job: expected down of autostop as true or false, got 1"],
  [
    { autostop: "soon" },
    'cannot make a job: expected autostop as milliseconds or as text such as "90s", "15m", "4h", got "soon"',
  ],
  [{ retryUntilUp: 1 }, "cannot make a job: expected retryUntilUp as true or false, got 1"],
  [
    { port: 65_535 },
    "cannot make a job: expected port from 1 to 65534, because certificates are signed at the next one, got 65535",
  ],
  [
    { endpoint: "http://me:secret@sky" },
    'cannot make a job: expected endpoint as the URL of an API server of SkyPilot without a password, which SKYPILOT_API_SERVER_ENDPOINT can have, got "http://sky"',
  ],
  [{ reach: "vpn" }, 'cannot make a job: expected reach as "direct" or "ssh", got "vpn"'],
  [{ login: "-oProxyCommand=x" }, "cannot make a job: expected login as the name of a machine, got"],
  [{ region: "us-east-1" }, "region"],
];

test.each(refused)("%j is refused", (options, message) => {
  expect(messageOf(options)).toContain(message);
});

test("a task asks for what the job asks for, and no more", () => {
  const [task] = taskManifest(specOf({ meshes, autostop: false })) as [Record<string, unknown>];
  expect(task).toMatchObject({ name: "viceroy-00000000", num_nodes: 1, resources: {} });
  expect(Object.keys(task)).toEqual(["name", "num_nodes", "resources", "secrets", "setup", "run"]);
});

test("a task has all options in SkyPilot's form", () => {
  const spec = specOf({
    name: "Night_Run",
    meshes: {
      trainers: {
        hosts: 2,
        cpus: 8,
        memory: "1.5GiB",
        gpus: "H100:8",
        spot: true,
        image: "docker:node:22",
        disk: 200,
        instance: "p5.48xlarge",
      },
    },
    infra: ["aws/us-east-1", "gcp"],
    envs: { MODE: "fast" },
    secrets: { TOKEN: "hidden" },
    mounts: { "/data": "s3://data", "~/out": { source: "gs://out/run", mode: "MOUNT_CACHED" } },
    ports: [8080, "9000-9010"],
    autostop: { after: "90s", down: false },
  });
  const [task] = taskManifest(spec) as [Record<string, unknown>];
  expect(task).toMatchObject({
    name: "night-run-00000000",
    num_nodes: 2,
    resources: {
      any_of: [{ infra: "aws/us-east-1" }, { infra: "gcp" }],
      instance_type: "p5.48xlarge",
      cpus: "8+",
      memory: "1.5+",
      accelerators: "H100:8",
      use_spot: true,
      image_id: "docker:node:22",
      disk_size: 200,
      ports: [8080, "9000-9010"],
      autostop: { idle_minutes: 2, down: false },
    },
    envs: { MODE: "fast" },
    file_mounts: { "/data": "s3://data", "~/out": { source: "gs://out/run", mode: "MOUNT_CACHED" } },
  });
  // Neither the record nor what people read has the values.
  expect(JSON.stringify([spec, task])).not.toContain("hidden");
});

test("the clusters of a run are found again by its id, and their names fit into those of clouds", () => {
  const spec = specOf({
    name: `2.${"long".repeat(15)}`,
    meshes: { a: { hosts: 1 }, b: { hosts: 2, spot: true }, c: { hosts: 1, spot: false } },
  });
  const applyId = "3f2a9c01-1111-4222-8333-444455556666";
  const plans = planClusters(spec, applyId);
  expect(plans.map(({ name, places }) => [name.slice(-11), places.length])).toEqual([
    ["-3f2a9c01-1", 2],
    ["-3f2a9c01-2", 2],
  ]);
  expect(plans[0]!.name).toMatch(/^v-2-(?:long)+/);
  for (const { name } of plans) expect(name.length).toBe(37);
  expect(plans[0]!.places).toEqual([
    { mesh: "a", rank: 0 },
    { mesh: "c", rank: 0 },
  ]);
  expect(planClusters({ ...spec, clusters: "each" }, applyId).length).toBe(3);
});

test("a job of a record asks for the same", () => {
  const options = {
    meshes,
    autostop: false,
    secrets: { TOKEN: "x" },
    setup: "true",
    endpoint: "http://sky:46580",
  } as const;
  const spec = specOf(options);
  const record = {
    version: 1,
    viceroy: "0.1.0",
    provider: "skypilot",
    name: "viceroy",
    spec: spec as never,
    specHash: "",
    applyId: "a",
    uid: 0,
    submittedAt: 0,
    folder: "/nowhere",
    allocation: { applyId: "a", folder: "/nowhere", clusters: [], idle: 1 },
  };
  expect(providerOfJob(SkyPilotJob.fromJSON(record)).spec).toEqual(spec);
});

test("a job that cannot stop says what ends it", async () => {
  const job = new ProcessJob({ name: "local", meshes: { workers: { hosts: 1 } }, cache: null });
  await expect(job.stop()).rejects.toThrow(
    'cannot stop job "local": the hosts of a job of the provider "process" cannot be stopped and started again; end them with kill',
  );
});
