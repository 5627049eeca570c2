/** Tests of the objects that a job of Kubernetes consists of. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Image } from "../../../runtime/job/kubernetes/image/image.js";
import { checkKubernetesJob, optionsOf } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import { ownedBy } from "../../../runtime/job/kubernetes/manifest/job-objects.js";
import { printDocuments } from "../../../runtime/job/kubernetes/manifest/print-yaml.js";
import { driverRole } from "../../../runtime/job/kubernetes/manifest/role.js";
import { fullJob, objectOf, objectsOf, templateOf } from "./example-job.js";

test("the manifest of a job with all options is the one in the golden file", () => {
  const { owner, owned } = objectsOf(fullJob());
  const role = driverRole(checkKubernetesJob(fullJob()).spec, { owner, owned }, null);
  const text = printDocuments([owner, ...owned, role]);
  const file = fileURLToPath(new URL("golden.yaml", import.meta.url));
  if (process.env["UPDATE_GOLDEN"]) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, "utf8"));
});

test("the same options make the same objects, and change nothing that was given", () => {
  const options = fullJob();
  const before = JSON.stringify(options);
  expect(objectsOf(options)).toEqual(objectsOf(options));
  expect(JSON.stringify(options)).toBe(before);
});

test("all objects but the owner are deleted with the owner", () => {
  const { owner, owned } = objectsOf(fullJob());
  for (const object of owned) {
    expect(ownedBy(owner, "uid-1", object).metadata.ownerReferences).toEqual([
      { apiVersion: "v1", kind: "ConfigMap", name: "train", uid: "uid-1" },
    ]);
  }
});

test("an archive that no ConfigMap can contain comes in parts, which the pods see in one folder", () => {
  const files = { image: Image.from("node:22").run("true"), hosts: 1 };
  const options = { namespace: "team", name: "train", meshes: { trainers: files } };
  const spec = checkKubernetesJob(options).spec;
  expect(spec.meshes["trainers"]).toMatchObject({ hosts: 1 });
  const { owned } = objectsOf(options);
  const names = owned.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name);
  expect(names).toEqual(["train-program-0", "train-trainers-image-0"]);
});

test("a spec is plain JSON that makes the same job again", () => {
  const { spec } = checkKubernetesJob(fullJob());
  const read = JSON.parse(JSON.stringify(spec));
  expect(read).toEqual(spec);
  expect(checkKubernetesJob(optionsOf(read)).spec).toEqual(spec);
});

test("a spec of selectors is plain JSON that makes the same job again", () => {
  const meshes = {
    a: { selector: "app=x", hosts: 1, rank: { label: "rank" } },
    b: { selector: "app in (y, z)", hosts: 2, rank: "statefulset" },
  } as const;
  const { spec } = checkKubernetesJob({
    namespace: "team",
    meshes,
    drivers: false,
    tls: false,
    kubeconfig: "k",
    context: "c",
  });
  expect(checkKubernetesJob(optionsOf(JSON.parse(JSON.stringify(spec)))).spec).toEqual(spec);
});

test("without drivers there is no NetworkPolicy, and the Role does not mention it", () => {
  const { ingress: _, ...others } = fullJob();
  const options = { ...others, drivers: false as const };
  const objects = objectsOf(options);
  expect(objects.owned.map(({ kind }) => kind)).not.toContain("NetworkPolicy");
  expect(JSON.stringify(driverRole(checkKubernetesJob(options).spec, objects, null))).not.toContain("networkpolicies");
});

test("an ingress leads to one host, and its pods reach the port for WebSockets alone", () => {
  const ingress = { host: "train.example.com", from: { pods: { app: "ingress" } } };
  const options = { ...fullJob(), ingress };
  expect(objectOf(options, "Ingress", "train")["spec"]).toEqual({
    rules: [
      {
        host: "train.example.com",
        http: {
          paths: [
            {
              path: "/",
              pathType: "Prefix",
              backend: { service: { name: "train-gateway", port: { name: "websocket" } } },
            },
          ],
        },
      },
    ],
  });
  expect(objectOf(options, "Service", "train-gateway")["spec"]).toEqual({
    selector: {
      "viceroy/job": "train",
      "viceroy/mesh": "trainers",
      "batch.kubernetes.io/job-completion-index": "0",
    },
    ports: [{ name: "websocket", port: 26602 }],
  });
  const { ingress: rules } = objectOf(options, "NetworkPolicy", "train")["spec"] as { ingress: object[] };
  expect(rules[1]).toEqual({
    from: [{ podSelector: { matchLabels: { app: "ingress" } } }],
    ports: [{ port: 26602 }],
  });
  const { ingress: _, ...without } = fullJob();
  const kinds = objectsOf(without).owned.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(kinds).not.toContain("Ingress train");
  expect(kinds).not.toContain("Service train-gateway");
  expect((objectOf(without, "NetworkPolicy", "train")["spec"] as { ingress: object[] }).ingress).toHaveLength(1);
});

test("the Role of a job that selects pods reads them, and changes nothing", () => {
  const options = { namespace: "team", meshes: { trainers: { selector: "app=x", hosts: 1 } } };
  const { rules } = driverRole(checkKubernetesJob(options).spec, objectsOf(options), "direct") as unknown as {
    readonly rules: readonly { readonly verbs: readonly string[] }[];
  };
  expect([...new Set(rules.flatMap(({ verbs }) => verbs))].sort()).toEqual(["get", "list", "watch"]);
});

test("a mesh is an Indexed Job with a pod for each rank, which is replaced when it fails", () => {
  const job = objectOf(fullJob(), "Job", "train-loaders");
  expect(job["spec"]).toMatchObject({
    completionMode: "Indexed",
    completions: 1,
    parallelism: 1,
    backoffLimitPerIndex: 100,
  });
});

test("the queue and the priority class of the job are those of meshes that have none", () => {
  const options = { ...fullJob(), queue: "shared", priorityClass: "low" };
  const queues = ["trainers", "loaders"].map((mesh) => objectOf(options, "Job", `train-${mesh}`));
  expect(queues.map(({ metadata }) => metadata.labels!["kueue.x-k8s.io/queue-name"])).toEqual(["research", "shared"]);
  expect(queues.map(({ spec }) => (spec as { template: { spec: object } }).template.spec)).toMatchObject([
    { priorityClassName: "high" },
    { priorityClassName: "low" },
  ]);
});

test("a pod without options asks for nothing and has the folder of the daemon alone", () => {
  const { spec } = templateOf({ image: "node:22" });
  const [host] = spec.containers!;
  expect(host).not.toHaveProperty("resources");
  expect(spec).not.toHaveProperty("initContainers");
  expect(spec.volumes!.map(({ name }) => name)).toEqual(["store", "tmp", "program", "secret"]);
});

test("without an image, the pods have the major version of Node.js of this program", () => {
  expect(templateOf({}).spec.containers![0]!.image).toBe(`node:${process.versions.node.split(".")[0]}`);
});

test("the grace period of the template reaches the host, less the time for its own end", () => {
  const graceOf = (terminationGracePeriodSeconds?: number) =>
    templateOf({
      template: { spec: { ...(terminationGracePeriodSeconds && { terminationGracePeriodSeconds }) } },
    }).spec.containers![0]!.env!.find(({ name }) => name === "VICEROY_HOST_GRACE")!.value;
  expect([graceOf(), graceOf(120), graceOf(3)]).toEqual(["25000", "115000", "0"]);
});
