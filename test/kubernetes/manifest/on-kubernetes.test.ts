/** Tests of the objects of jobs on Kubernetes: what the API server says of them, and what becomes of the pods. */
import { readFileSync } from "node:fs";
import { type RequestOptions, request } from "node:https";
import { BatchV1Api, CoreV1Api, KubeConfig, NetworkingV1Api, type V1Pod } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { Compute } from "../../../runtime/job/kubernetes/compute/compute.js";
import { Image } from "../../../runtime/job/kubernetes/image/image.js";
import { checkKubernetesJob, type KubernetesJobOptions } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import { type JobObjects, jobObjects, ownedBy } from "../../../runtime/job/kubernetes/manifest/job-objects.js";
import type { KubernetesObject, PodTemplate } from "../../../runtime/job/kubernetes/manifest/objects.js";
import { driverRole, type PolicyRule } from "../../../runtime/job/kubernetes/manifest/role.js";
import { until } from "../../proc/until.js";
import { onKubernetes } from "../lab/on-kubernetes.js";
import { fullCompute, fullJob } from "./example-job.js";

const imageProgram = readFileSync(new URL("../../../dist/job-kubernetes-image.cjs", import.meta.url), "utf8");

/** Stands for the daemon: it listens at the port of hosts, and says what it sees. */
const hostProgram = `
const { readFileSync, existsSync } = require("node:fs");
const { VICEROY_JOB, VICEROY_JOB_MESH, VICEROY_JOB_RANK, VICEROY_POD_IP, MODE } = process.env;
const secret = readFileSync("/viceroy/secret", "utf8");
const made = existsSync("made") ? readFileSync("made", "utf8").trim() : null;
console.log(JSON.stringify({ job: VICEROY_JOB, mesh: VICEROY_JOB_MESH, rank: VICEROY_JOB_RANK, secret, mode: MODE, made }));
require("node:net").createServer((socket) => socket.end()).listen(26600, VICEROY_POD_IP);
process.on("SIGTERM", () => process.exit(143));
`;

const applyId = "11111111-2222-3333-4444-555555555555";
const restricted = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};

function objectsOf(options: KubernetesJobOptions<string>): JobObjects {
  const secrets = { "trainers-0": "zero", "trainers-1": "one" };
  return jobObjects(checkKubernetesJob(options).spec, {
    applyId,
    files: { "host.cjs": hostProgram, "image.cjs": imageProgram },
    daemon: Buffer.alloc(400_000, 1),
    isReplaced: true,
    secrets: Object.fromEntries(
      Object.entries(secrets).map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
    ),
  });
}

const plurals: Readonly<Record<string, string>> = { Ingress: "ingresses", NetworkPolicy: "networkpolicies" };

interface Answer {
  readonly status: number;
  readonly warnings: string | undefined;
  readonly body: { readonly message?: string; readonly metadata?: { readonly uid?: string } };
}

/** Applies an object as a driver does. Fields that Kubernetes does not know are errors. */
function apply(config: KubeConfig, object: KubernetesObject, { dryRun = false } = {}): Promise<Answer> {
  const { apiVersion, kind, metadata } = object;
  const resource = plurals[kind] ?? `${kind.toLowerCase()}s`;
  const path = `${apiVersion.includes("/") ? "apis" : "api"}/${apiVersion}/namespaces/${metadata.namespace}/${resource}/${metadata.name}`;
  const query = `fieldManager=viceroy&force=true&fieldValidation=Strict${dryRun ? "&dryRun=All" : ""}`;
  return send(config, "PATCH", `${path}?${query}`, "application/apply-patch+yaml", object);
}

async function send(config: KubeConfig, method: string, path: string, type: string, body: object): Promise<Answer> {
  const options: RequestOptions = { method, headers: { "content-type": type } };
  await config.applyToHTTPSOptions(options);
  return new Promise((resolve, reject) => {
    const sent = request(`${config.getCurrentCluster()!.server}/${path}`, options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        const { statusCode = 0, headers } = response;
        resolve({ status: statusCode, warnings: headers["warning"] as string | undefined, body: JSON.parse(text) });
      });
    });
    sent.on("error", reject).end(JSON.stringify(body));
  });
}

/** Applies all objects, owned by the first. @returns the id of the owner */
async function applyAll(config: KubeConfig, { owner, owned }: JobObjects): Promise<string> {
  const { body, status } = await apply(config, owner);
  expect(status, body.message).toBe(201);
  const uid = body.metadata!.uid!;
  for (const object of owned) {
    const applied = await apply(config, ownedBy(owner, uid, object));
    expect({ ...applied, body: undefined }, applied.body.message).toEqual({
      status: 201,
      warnings: undefined,
      body: undefined,
    });
  }
  return uid;
}

function configOf(file: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(file);
  return config;
}

onKubernetes("the objects of a job", (lab) => {
  const core = () => lab().config.makeApiClient(CoreV1Api);
  const podsOf = async (namespace: string): Promise<V1Pod[]> =>
    (await core().listNamespacedPod({ namespace, labelSelector: "viceroy/job=train" })).items;

  it.each(["all", "no"])(
    "are accepted by the API server with %s options, and under Pod Security restricted",
    async (which) => {
      const namespace = await lab().namespace(restricted);
      const compute = new Compute(which === "all" ? fullCompute : { hosts: 2 });
      const options = {
        namespace,
        name: "train",
        meshes: { trainers: { compute } },
        drivers: { pods: { app: "x" }, addresses: ["10.1.0.0/16"] },
        ...(which === "all" ? { ingress: fullJob().ingress! } : {}),
      };
      const objects = objectsOf(options);
      const role = driverRole(checkKubernetesJob(options).spec, objects, null);
      for (const object of [objects.owner, ...objects.owned, role]) {
        const { status, warnings, body } = await apply(lab().config, object, { dryRun: true });
        expect({ status, warnings }, `${object.kind}: ${body.message}`).toEqual({ status: 201, warnings: undefined });
      }
      // Jobs are warned of, and pods are refused.
      const { template } = objects.owned.find(({ kind }) => kind === "Job")!["spec"] as {
        readonly template: PodTemplate;
      };
      const { priorityClassName: _, ...spec } = template.spec!;
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, name: "pod", namespace }, spec };
      const { status, body } = await send(
        lab().config,
        "POST",
        `api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`,
        "application/json",
        pod,
      );
      expect(status, body.message).toBe(201);
    },
  );

  it("start pods, each with its rank, its own secret, and what the steps of the image have made", async () => {
    const namespace = await lab().namespace();
    const image = Image.from(lab().nodeImage).run("node -e \"console.log('made for ' + process.env.MODE)\" > made");
    const options = {
      namespace,
      name: "train",
      meshes: {
        trainers: {
          hosts: 2,
          image: Image.fromJSON({
            ...image.toJSON(),
            steps: [{ kind: "env", name: "MODE", value: "$(fast)" }, ...image.toJSON().steps],
          }),
        },
      },
    };
    await applyAll(lab().config, objectsOf(options));
    await until(async () => {
      const pods = await podsOf(namespace);
      return (
        pods.filter(({ status }) =>
          status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
        ).length === 2
      );
    });
    const pods = await podsOf(namespace);
    const said = await Promise.all(
      pods.map(async ({ metadata }) =>
        JSON.parse(await core().readNamespacedPodLog({ namespace, name: metadata!.name!, container: "host" })),
      ),
    );
    said.sort((left, right) => left.rank - right.rank);
    const common = { job: applyId, mesh: "trainers", mode: "$(fast)", made: "made for $(fast)" };
    expect(said).toEqual([
      { ...common, rank: "0", secret: "zero" },
      { ...common, rank: "1", secret: "one" },
    ]);
  });

  it("fail as a whole when a step of the image fails, and the pod says why", async () => {
    const namespace = await lab().namespace();
    const image = Image.from(lab().nodeImage).run("echo no such compiler >&2; exit 4");
    await applyAll(lab().config, objectsOf({ namespace, name: "train", meshes: { trainers: { hosts: 1, image } } }));
    const batch = lab().config.makeApiClient(BatchV1Api);
    await until(async () => {
      const { status } = await batch.readNamespacedJobStatus({ namespace, name: "train-trainers" });
      return (
        status?.conditions?.some(({ type, reason }) => type === "Failed" && reason === "PodFailurePolicy") === true
      );
    });
    const [pod] = await podsOf(namespace);
    const { exitCode, message } = pod!.status!.initContainerStatuses![0]!.state!.terminated!;
    expect(exitCode).toBe(65);
    expect(message).toContain(
      "cannot apply step 1 of the image, RUN echo no such compiler >&2; exit 4: it has ended with exit code 4, and has printed last:\nno such compiler",
    );
  });

  it("can be applied, watched and deleted with the Role, which gives nothing else", async () => {
    const namespace = await lab().namespace();
    const options = {
      namespace,
      name: "train",
      meshes: { trainers: { hosts: 1, image: lab().nodeImage } },
      ingress: { host: "train.example.com", from: { pods: { app: "ingress" } } },
    };
    const objects = objectsOf(options);
    const { rules } = driverRole(checkKubernetesJob(options).spec, objects, null) as unknown as {
      readonly rules: PolicyRule[];
    };
    const config = configOf(await lab().user(namespace, rules as never));
    await applyAll(config, objects);
    const driver = config.makeApiClient(CoreV1Api);
    await until(async () => (await driver.listNamespacedPod({ namespace })).items.length === 1);
    const refused = [
      () => driver.readNamespacedSecret({ namespace, name: "train-secrets" }),
      () => driver.listNamespacedSecret({ namespace }),
      () => driver.deleteNamespacedService({ namespace, name: "train" }),
      () => driver.createNamespacedPod({ namespace, body: {} }),
      () => driver.deleteNamespacedConfigMap({ namespace, name: "other" }),
      () => config.makeApiClient(BatchV1Api).deleteNamespacedJob({ namespace, name: "train-trainers" }),
      () => config.makeApiClient(BatchV1Api).listJobForAllNamespaces(),
    ];
    for (const call of refused) await expect(call(), String(call)).rejects.toMatchObject({ code: 403 });
    await lab().config.makeApiClient(NetworkingV1Api).readNamespacedIngress({ namespace, name: "train" });
    await driver.deleteNamespacedConfigMap({ namespace, name: "train" });
    await until(async () => (await podsOf(namespace)).length === 0);
    const { items } = await lab().config.makeApiClient(BatchV1Api).listNamespacedJob({ namespace });
    expect(items).toEqual([]);
    const { items: services } = await core().listNamespacedService({ namespace });
    expect(services).toEqual([]);
    const { items: ingresses } = await lab().config.makeApiClient(NetworkingV1Api).listNamespacedIngress({ namespace });
    expect(ingresses).toEqual([]);
  });
});
