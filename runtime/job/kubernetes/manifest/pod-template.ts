/** The pod template of a mesh: the daemon in an image with Node.js, under the profile "restricted" of Pod Security. */
import type { ComputeSpec, ComputeVolume } from "../compute/compute-options.js";
import { Image } from "../image/image.js";
import { controllerName } from "../provision/protocol.js";
import { checkTemplate } from "./check-template.js";
import {
  cacheFolder,
  controllerFolder,
  controllerToken,
  controllerVariable,
  defaultFolder,
  driverLabel,
  filesFolder,
  filesName,
  holderProgram,
  hostContainer,
  hostPort,
  imageContainer,
  jobLabel,
  meshLabel,
  meshObjectName,
  programFolder,
  programName,
  rankAnnotation,
  runLabel,
  secretFile,
  secretKey,
  secretName,
  storeName,
} from "./layout.js";
import { mergeTemplate } from "./merge-template.js";
import type { Container, EnvVariable, PodTemplate, Volume, VolumeMount } from "./objects.js";
import { cpuQuantity, memoryInBytes, memoryQuantity } from "./quantity.js";

/** The facts on which a template depends besides the compute. */
export interface TemplateContext {
  readonly job: string;
  readonly mesh: string;
  /** The id of the run of the job. */
  readonly run: string;
  /** Lines of the shell before the daemon. */
  readonly setup: string | null;
  /** The path of Node.js in the image. */
  readonly node: string | null;
  /** The number of ConfigMaps that contain the archive of the daemon. */
  readonly programs: number;
  /** The number of ConfigMaps that contain the files of the image. */
  readonly images: number;
  /** Whether it is the pod of a command, which is a driver of the job. */
  readonly isCommand?: boolean;
  /** The address of the controller that programs in the pod ask for hosts; absent: they ask none. */
  readonly controller?: string | undefined;
}

/** The user and group of the pods: `node` in the official images of Node.js. */
const userId = 1000;

/** Time in seconds for a host to listen after its container has started. */
const startSeconds = 120;

/** Time in seconds between SIGTERM and SIGKILL, if the template does not set another one. */
const graceSeconds = 30;

/** The part of it in which the daemon ends. Until then it serves its drivers. */
const endSeconds = 5;

/**
 * Returns the pod template.
 * @throws TypeError if the template of the compute removes or changes what the job needs
 */
export function podTemplate(compute: ComputeSpec, context: TemplateContext): PodTemplate {
  const own = ownTemplate(compute, context);
  if (compute.template === undefined) return own;
  const merged = mergeTemplate(own, compute.template);
  checkTemplate(context.mesh, own, merged);
  return merged;
}

/** Returns the image of a compute. */
export function imageOf({ image = `node:${process.versions.node.split(".")[0]}` }: ComputeSpec): Image {
  return typeof image === "string" ? Image.from(image) : Image.fromJSON(image);
}

function ownTemplate(compute: ComputeSpec, context: TemplateContext): PodTemplate {
  const { job, mesh, run, isCommand = false } = context;
  const image = imageOf(compute);
  const { priorityClass, nodeSelector, tolerations } = compute;
  const { volumes, mounts } = userVolumes(compute);
  const folder = image.folder ?? defaultFolder;
  const common = [
    mount("store", folder),
    mount("tmp", "/tmp"),
    mount("program", programFolder, true),
    ...(compute.sharedMemory === undefined ? [] : [mount("shared-memory", "/dev/shm")]),
    ...(context.controller === undefined ? [] : [mount("controller", controllerFolder, true)]),
    ...mounts,
  ];
  return {
    metadata: {
      labels: { [jobLabel]: job, [meshLabel]: mesh, [runLabel]: run, ...(isCommand ? { [driverLabel]: job } : {}) },
    },
    spec: {
      restartPolicy: "Never",
      subdomain: job,
      terminationGracePeriodSeconds: graceSeconds,
      ...(isCommand ? { serviceAccountName: meshObjectName(job, mesh) } : {}),
      automountServiceAccountToken: isCommand,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: userId,
        runAsGroup: userId,
        fsGroup: userId,
        seccompProfile: { type: "RuntimeDefault" },
      },
      ...(priorityClass === undefined ? {} : { priorityClassName: priorityClass }),
      ...(nodeSelector === undefined ? {} : { nodeSelector }),
      ...(tolerations === undefined ? {} : { tolerations }),
      ...(image.hasSteps ? { initContainers: [imageSteps(image, compute, context, common)] } : {}),
      containers: [host(image, compute, context, common, folder)],
      volumes: [...ownVolumes(image, compute, context), ...volumes],
    },
  };
}

function host(
  image: Image,
  compute: ComputeSpec,
  { mesh, run, setup, node, isCommand = false, controller }: TemplateContext,
  mounts: readonly VolumeMount[],
  folder: string,
): Container {
  const command = [node ?? "node", `${programFolder}/${isCommand ? holderProgram : "host.cjs"}`];
  const { terminationGracePeriodSeconds: grace = graceSeconds } = compute.template?.spec ?? {};
  return {
    name: hostContainer,
    image: image.base,
    command: setup === null ? command : ["sh", "-c", `${setup}\nexec "$0" "$@"`, ...command],
    workingDir: image.workingDirectory ?? folder,
    env: [
      { name: "VICEROY_JOB", value: run },
      { name: "VICEROY_JOB_MESH", value: mesh },
      fieldVariable("VICEROY_JOB_RANK", `metadata.annotations['${rankAnnotation}']`),
      fieldVariable("VICEROY_POD_IP", "status.podIP"),
      { name: "VICEROY_HOST_GRACE", value: String(Math.max(0, Number(grace) - endSeconds) * 1000) },
      ...(controller === undefined ? [] : [{ name: controllerVariable, value: controller }]),
      ...(compute.idle === undefined ? [] : [{ name: "VICEROY_HOST_IDLE", value: String(compute.idle) }]),
      { name: "HOME", value: "/tmp" },
      { name: "XDG_CACHE_HOME", value: `${folder}/${storeName}` },
      ...variables(image.environment),
    ],
    ...secretVariables(compute),
    ports: [{ name: "viceroy", containerPort: hostPort }],
    ...resources(compute),
    securityContext: restricted,
    startupProbe: { tcpSocket: { port: "viceroy" }, periodSeconds: 1, failureThreshold: startSeconds },
    readinessProbe: { tcpSocket: { port: "viceroy" }, periodSeconds: 10 },
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [
      ...mounts,
      {
        ...mount("secret", secretFile, true),
        subPathExpr: secretKey(mesh, "$(VICEROY_JOB_RANK)"),
      },
    ],
  };
}

function imageSteps(
  image: Image,
  compute: ComputeSpec,
  { node }: TemplateContext,
  mounts: readonly VolumeMount[],
): Container {
  return {
    name: imageContainer,
    image: image.base,
    command: [
      node ?? "node",
      `${programFolder}/image.cjs`,
      `${filesFolder}/image.json`,
      ...(compute.imageCache === undefined ? [] : [cacheFolder]),
    ],
    env: [{ name: "HOME", value: "/tmp" }],
    // The registry of packages can ask for a token.
    ...secretVariables(compute),
    ...resources({ ...compute, gpus: 0 }),
    securityContext: restricted,
    terminationMessagePolicy: "FallbackToLogsOnError",
    volumeMounts: [
      ...mounts,
      mount("files", filesFolder, true),
      ...(compute.imageCache === undefined ? [] : [mount("image-cache", cacheFolder)]),
    ],
  };
}

const restricted = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
};

function mount(name: string, mountPath: string, readOnly = false): VolumeMount {
  return { name, mountPath, ...(readOnly ? { readOnly } : {}) };
}

/** The lifetime in s of tokens for the controller, the shortest that Kubernetes allows. The kubelet replaces them. */
const tokenSeconds = 600;

/**
 * The token of the pod is for the controller alone, and the API server does not accept it. The ConfigMap is published by the controller; a job does
 * not wait for it.
 */
const controllerVolume: Volume = {
  name: "controller",
  projected: {
    defaultMode: 0o440,
    sources: [
      { serviceAccountToken: { audience: controllerName, expirationSeconds: tokenSeconds, path: controllerToken } },
      { configMap: { name: controllerName, optional: true } },
    ],
  },
};

function ownVolumes(image: Image, compute: ComputeSpec, context: TemplateContext): Volume[] {
  const { job, mesh, programs, images, controller } = context;
  const { sharedMemory, imageCache } = compute;
  const parts = (count: number, nameOf: (part: number) => string) =>
    Array.from({ length: count }, (_, part) => ({ configMap: { name: nameOf(part) } }));
  return [
    { name: "store", emptyDir: {} },
    { name: "tmp", emptyDir: {} },
    {
      name: "program",
      projected: { sources: [{ configMap: { name: job } }, ...parts(programs, (part) => programName(job, part))] },
    },
    // The group of the pod reads the secret.
    { name: "secret", secret: { secretName: secretName(job), defaultMode: 0o440 } },
    ...(controller === undefined ? [] : [controllerVolume]),
    ...(sharedMemory === undefined
      ? []
      : [{ name: "shared-memory", emptyDir: { medium: "Memory", sizeLimit: memoryQuantity(sharedMemory) } }]),
    ...(image.hasSteps
      ? [{ name: "files", projected: { sources: parts(images, (part) => filesName(job, mesh, part)) } }]
      : []),
    ...(image.hasSteps && imageCache !== undefined ? [{ name: "image-cache", ...cacheSource(imageCache) }] : []),
  ];
}

function cacheSource(cache: NonNullable<ComputeSpec["imageCache"]>): object {
  return "node" in cache
    ? { hostPath: { path: cache.node, type: "DirectoryOrCreate" } }
    : { persistentVolumeClaim: { claimName: cache.claim } };
}

function userVolumes({ volumes = {}, secrets = [] }: ComputeSpec): {
  readonly volumes: Volume[];
  readonly mounts: VolumeMount[];
} {
  const files = secrets.filter((secret) => typeof secret !== "string");
  const named = Object.entries(volumes).map(([path, volume], index) => ({ name: `volume-${index}`, path, volume }));
  return {
    volumes: [
      ...named.map(({ name, volume }) => ({ name, ...volumeSource(volume) })),
      ...files.map(({ name }, index) => ({
        name: `secret-${index}`,
        secret: { secretName: name, defaultMode: 0o440 },
      })),
    ],
    mounts: [
      ...named.map(({ name, path, volume }) => ({
        ...mount(name, path, "configMap" in volume || ("readOnly" in volume && volume.readOnly)),
        ...("subPath" in volume && volume.subPath !== undefined ? { subPath: volume.subPath } : {}),
      })),
      ...files.map(({ path }, index) => mount(`secret-${index}`, path, true)),
    ],
  };
}

function volumeSource(volume: ComputeVolume): object {
  if ("claim" in volume) {
    const { claim, readOnly } = volume;
    return { persistentVolumeClaim: { claimName: claim, ...(readOnly === true ? { readOnly } : {}) } };
  }
  if ("configMap" in volume) return { configMap: { name: volume.configMap } };
  return { emptyDir: { sizeLimit: memoryQuantity(memoryInBytes("empty", volume.empty)) } };
}

/** Returns equal requests and limits: a host has what it asked for, and is evicted last. */
function resources({ cpus, memory, gpus = 0, gpuResource = "nvidia.com/gpu" }: ComputeSpec): object {
  const amounts = {
    ...(cpus === undefined ? {} : { cpu: cpuQuantity(cpus) }),
    ...(memory === undefined ? {} : { memory: memoryQuantity(memory) }),
    ...(gpus === 0 ? {} : { [gpuResource]: String(gpus) }),
  };
  return Object.keys(amounts).length === 0 ? {} : { resources: { requests: amounts, limits: amounts } };
}

function secretVariables({ secrets = [] }: ComputeSpec): object {
  const names = secrets.filter((secret) => typeof secret === "string");
  return names.length === 0 ? {} : { envFrom: names.map((name) => ({ secretRef: { name } })) };
}

function fieldVariable(name: string, fieldPath: string): EnvVariable {
  return { name, valueFrom: { fieldRef: { fieldPath } } };
}

/** In values, Kubernetes replaces `$(NAME)`. */
function variables(environment: Readonly<Record<string, string>>): EnvVariable[] {
  return Object.entries(environment).map(([name, value]) => ({ name, value: value.replaceAll("$(", "$$$$(") }));
}
