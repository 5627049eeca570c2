/** A job that uses all options, and the objects of jobs, for the tests of manifests. */
import { Compute } from "../../../runtime/job/kubernetes/compute/compute.js";
import type { ComputeOptions } from "../../../runtime/job/kubernetes/compute/compute-options.js";
import { Image } from "../../../runtime/job/kubernetes/image/image.js";
import { checkKubernetesJob, type KubernetesJobOptions } from "../../../runtime/job/kubernetes/kubernetes-spec.js";
import { type JobObjects, jobObjects } from "../../../runtime/job/kubernetes/manifest/job-objects.js";
import type { KubernetesObject, PodTemplate } from "../../../runtime/job/kubernetes/manifest/objects.js";

/** A compute with all options. */
export const fullCompute: ComputeOptions = {
  hosts: 3,
  cpus: 1.5,
  memory: "64GiB",
  gpus: 2,
  image: Image.from("node:22")
    .workdir("/app")
    .npmInstall("left-pad@1.3.0")
    .env({ MODE: "$(fast)" })
    .run("node prepare.js"),
  imageCache: { claim: "steps" },
  nodeSelector: { disk: "ssd" },
  tolerations: [{ key: "nvidia.com/gpu", operator: "Exists", effect: "NoSchedule" }],
  volumes: {
    "/data": { claim: "datasets", readOnly: true, subPath: "images" },
    "/scratch": { empty: "10GiB" },
    "/settings": { configMap: "settings" },
  },
  secrets: ["registry-token", { name: "cloud", path: "/secrets/cloud" }],
  queue: "research",
  priorityClass: "high",
  idle: "30m",
  launchTimeout: "10m",
  sharedMemory: "8Gi",
  template: {
    metadata: { annotations: { "example.com/team": "vision" } },
    spec: {
      terminationGracePeriodSeconds: 60,
      containers: [{ name: "host", env: [{ name: "NCCL_DEBUG", value: "INFO" }] }],
    },
  },
};

/** Returns the options of a job with a mesh that has all options, and one that has none. */
export function fullJob(): KubernetesJobOptions<string> {
  return {
    namespace: "team",
    name: "train",
    meshes: { trainers: { compute: new Compute(fullCompute) }, loaders: { hosts: 1, image: "node:22" } },
    share: true,
    drivers: { pods: { app: "notebook" }, addresses: ["10.1.0.0/16"] },
    ingress: {
      host: "train.example.com",
      path: "/train",
      className: "nginx",
      tls: "train-tls",
      annotations: { "nginx.ingress.kubernetes.io/proxy-read-timeout": "3600" },
      from: { namespaces: { "kubernetes.io/metadata.name": "ingress-nginx" }, pods: { app: "ingress" } },
    },
  };
}

/** Returns the objects of a job whose daemon is small. @param hasCommand whether a command runs in a pod of its own */
export function objectsOf(options: KubernetesJobOptions<string>, hasCommand = false): JobObjects {
  return jobObjects(checkKubernetesJob(options).spec, {
    applyId: "11111111-2222-3333-4444-555555555555",
    files: { "host.cjs": 'console.log("host");\n', "image.cjs": 'console.log("image");\n' },
    daemon: Buffer.alloc(300, 1),
    isReplaced: true,
    hasCommand,
  });
}

/** Returns the object of a kind and a name. */
export function objectOf(options: KubernetesJobOptions<string>, kind: string, name: string): KubernetesObject {
  const { owner, owned } = objectsOf(options);
  const found = [owner, ...owned].find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`the job has no ${kind} ${name}`);
  return found;
}

/** Returns the pod template of the only mesh of a job with a compute. */
export function templateOf(compute: ComputeOptions): Required<PodTemplate> {
  return new Compute(compute).podTemplate("train", "trainers") as Required<PodTemplate>;
}
