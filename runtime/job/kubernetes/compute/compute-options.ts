/** The options of the pods of a mesh of a `KubernetesJob`, and their checks. */
import { checkOptionNames } from "../../../shape/check-options.js";
import { optionError } from "../../check-option.js";
import { type Duration, durationMs } from "../../duration.js";
import type { Json } from "../../json.js";
import { Image, type ImageSpec } from "../image/image.js";
import { checkLabels, checkLabelValue, checkObjectName, isLabelKey } from "../manifest/names.js";
import type { Labels, PodTemplate, Toleration } from "../manifest/objects.js";
import { checkCpus, checkGpus, memoryInBytes } from "../manifest/quantity.js";

/** The options of {@link Compute}. */
export interface ComputeOptions {
  /** The number of hosts, each of which is a pod. Default: that of the mesh. */
  readonly hosts?: number;
  /** The processors of each pod, with at most 3 decimals. Default: no reservation. */
  readonly cpus?: number;
  /** The memory of each pod: bytes, or text such as `"16Gi"`. Default: no reservation. */
  readonly memory?: number | string;
  /** The GPUs of each pod. Default: 0. */
  readonly gpus?: number;
  /** The name of the GPUs in Kubernetes. Default: `"nvidia.com/gpu"`. */
  readonly gpuResource?: string;
  /** The container image, which needs Node.js alone, or an {@link Image} with steps. Default: `node:` and the driver's major version. */
  readonly image?: string | Image;
  /** Where pods of a node keep the results of the steps of the image. Default: each pod has its own. */
  readonly imageCache?: ImageCache;
  /** The labels that nodes must have. */
  readonly nodeSelector?: Labels;
  /** The taints of nodes that the pods accept. */
  readonly tolerations?: readonly Toleration[];
  /** Volumes by the paths at which the pods see them. */
  readonly volumes?: Readonly<Record<string, ComputeVolume>>;
  /** Secrets of the namespace: as environment variables, or as files if there is a path. */
  readonly secrets?: readonly (string | { readonly name: string; readonly path: string })[];
  /** The queue of Kueue in which the job waits. Default: that of the job. */
  readonly queue?: string;
  /** The priority class. Default: that of the job. */
  readonly priorityClass?: string;
  /** The time for which the pods stay without a driver. Default: that of the job. */
  readonly idle?: Duration;
  /** The time in which the pods of the mesh must be up once they have nodes. Default: `start` of `hostTimeout` of the job. */
  readonly launchTimeout?: Duration;
  /** The size of `/dev/shm`: bytes, or text such as `"8Gi"`. It counts as memory of the pod. Default: that of the container runtime. */
  readonly sharedMemory?: number | string;
  /**
   * Fields that are merged into the pod template: the container of the host is named `host`, and lists are merged by their keys as
   * `kubectl apply` does. Null removes a field.
   */
  readonly template?: PodTemplate;
}

/** A volume of the pods. Further kinds of volumes can be added by the template. */
export type ComputeVolume =
  /** A persistent volume claim of the namespace. */
  | { readonly claim: string; readonly readOnly?: boolean; readonly subPath?: string }
  /** An empty folder that ends with the pod, and its maximum size. */
  | { readonly empty: string }
  /** The files of a ConfigMap of the namespace. */
  | { readonly configMap: string };

/**
 * Where pods keep the results of steps: a folder of each node that the pods' user can write, which needs a namespace that allows
 * `hostPath`, or a persistent volume claim.
 */
export type ImageCache = { readonly node: string } | { readonly claim: string };

/** The options after their check, as plain JSON. They are options again, so that a record can contain them. */
export type ComputeSpec = {
  readonly hosts?: number;
  readonly cpus?: number;
  /** Bytes. */
  readonly memory?: number;
  readonly gpus?: number;
  readonly gpuResource?: string;
  readonly image?: string | ImageSpec;
  readonly imageCache?: ImageCache;
  readonly nodeSelector?: Labels;
  readonly tolerations?: readonly Toleration[];
  readonly volumes?: Readonly<Record<string, ComputeVolume>>;
  readonly secrets?: readonly (string | { readonly name: string; readonly path: string })[];
  readonly queue?: string;
  readonly priorityClass?: string;
  /** Milliseconds. */
  readonly idle?: number;
  /** Milliseconds. */
  readonly launchTimeout?: number;
  /** Bytes. */
  readonly sharedMemory?: number;
  readonly template?: PodTemplate;
};

/** The names of the options. */
export const computeOptionNames = [
  "hosts",
  "cpus",
  "memory",
  "gpus",
  "gpuResource",
  "image",
  "imageCache",
  "nodeSelector",
  "tolerations",
  "volumes",
  "secrets",
  "queue",
  "priorityClass",
  "idle",
  "launchTimeout",
  "sharedMemory",
  "template",
] as const satisfies readonly (keyof ComputeOptions)[];

/** Folders of containers that Viceroy uses. A volume of the user cannot be there. */
const ownFolders = ["/viceroy", "/tmp"];

/**
 * Checks the options, and returns them as plain JSON.
 * @throws TypeError, RangeError with the rule for the option that is wrong
 */
export function checkCompute(options: unknown): ComputeSpec {
  checkOptionNames("cannot make a Compute", options, computeOptionNames);
  const given = options as ComputeOptions;
  const { hosts, cpus, memory, gpus, gpuResource, image, sharedMemory, idle, launchTimeout } = given;
  if (hosts !== undefined && !(Number.isSafeInteger(hosts) && hosts >= 1)) {
    throw new RangeError(`cannot make a job: expected hosts as a whole number of at least 1, got ${String(hosts)}`);
  }
  if (launchTimeout !== undefined && durationMs(launchTimeout, "launchTimeout") === 0) {
    throw optionError("launchTimeout longer than 0", launchTimeout);
  }
  if (cpus !== undefined) checkCpus("cpus", cpus);
  if (gpus !== undefined) checkGpus("gpus", gpus);
  if (gpuResource !== undefined && !(typeof gpuResource === "string" && isLabelKey(gpuResource))) {
    throw optionError('gpuResource as the name of a resource, such as "amd.com/gpu"', gpuResource);
  }
  if (given.nodeSelector !== undefined) checkLabels("nodeSelector", given.nodeSelector);
  if (given.queue !== undefined) checkLabelValue("queue", given.queue);
  if (given.priorityClass !== undefined) checkObjectName("priorityClass", given.priorityClass);
  checkTolerations(given.tolerations ?? []);
  checkVolumes(given.volumes ?? {});
  checkSecrets(given.secrets ?? []);
  if (given.imageCache !== undefined) checkImageCache(given.imageCache);
  const { template } = given;
  if (template !== undefined && (typeof template !== "object" || template === null || Array.isArray(template))) {
    throw optionError("template as a pod template, such as { spec: { … } }", template);
  }
  return plain({
    ...given,
    memory: memory === undefined ? undefined : memoryInBytes("memory", memory),
    image: image === undefined ? undefined : imageSpec(image),
    sharedMemory: sharedMemory === undefined ? undefined : memoryInBytes("sharedMemory", sharedMemory),
    idle: idle === undefined ? undefined : durationMs(idle, "idle"),
    launchTimeout: launchTimeout === undefined ? undefined : durationMs(launchTimeout, "launchTimeout"),
  }) as ComputeSpec;
}

/** Returns a copy that is plain JSON, so that changes of what was given change nothing. */
function plain(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

function imageSpec(image: unknown): string | ImageSpec {
  if (image instanceof Image) return image.toJSON();
  if (typeof image === "object" && image !== null && "from" in image)
    return Image.fromJSON(image as ImageSpec).toJSON();
  if (typeof image === "string") return Image.from(image).toJSON().from;
  throw optionError('image as the name of a container image, such as "node:22", or as an Image', image);
}

function checkTolerations(tolerations: unknown): void {
  if (!Array.isArray(tolerations)) throw optionError("tolerations as a list", tolerations);
  for (const toleration of tolerations) {
    checkOptionNames("cannot make a job with tolerations", toleration, [
      "key",
      "operator",
      "value",
      "effect",
      "tolerationSeconds",
    ]);
    const { key, operator = "Equal", effect } = toleration as Toleration;
    if (key !== undefined && !isLabelKey(key)) throw optionError("key of tolerations as that of a taint", key);
    if (!["Exists", "Equal", "Gt", "Lt"].includes(operator)) {
      throw optionError('operator of tolerations as "Exists", "Equal", "Gt" or "Lt"', operator);
    }
    if (key === undefined && operator !== "Exists") {
      throw optionError('operator "Exists" of tolerations that have no key and so accept all taints', operator);
    }
    if (effect !== undefined && !["NoSchedule", "PreferNoSchedule", "NoExecute"].includes(effect)) {
      throw optionError('effect of tolerations as "NoSchedule", "PreferNoSchedule" or "NoExecute"', effect);
    }
  }
}

function checkVolumes(volumes: unknown): void {
  if (typeof volumes !== "object" || volumes === null || Array.isArray(volumes)) {
    throw optionError('volumes as an object by paths, such as { "/data": { claim: "datasets" } }', volumes);
  }
  for (const [path, volume] of Object.entries(volumes)) {
    checkMountPath("paths of volumes", path);
    checkOptionNames(`cannot make a job with volume ${path}`, volume, [
      "claim",
      "empty",
      "configMap",
      "readOnly",
      "subPath",
    ]);
    const { claim, empty, configMap } = volume as Record<string, unknown>;
    if ([claim, empty, configMap].filter((kind) => kind !== undefined).length !== 1) {
      throw optionError(`one of claim, empty and configMap for volume ${path}`, volume);
    }
    if (claim !== undefined) checkObjectName(`claim of volume ${path}`, claim);
    if (configMap !== undefined) checkObjectName(`configMap of volume ${path}`, configMap);
    if (empty !== undefined) memoryInBytes(`empty of volume ${path}`, empty);
  }
}

function checkSecrets(secrets: unknown): void {
  if (!Array.isArray(secrets)) throw optionError("secrets as a list of names", secrets);
  for (const secret of secrets) {
    if (typeof secret === "string") checkObjectName("each of secrets", secret);
    else {
      checkOptionNames("cannot make a job with secrets", secret, ["name", "path"]);
      checkObjectName("name of each of secrets", secret.name);
      checkMountPath("path of each of secrets", secret.path);
    }
  }
}

function checkImageCache(cache: unknown): void {
  checkOptionNames("cannot make a job with imageCache", cache, ["node", "claim"]);
  const { node, claim } = cache as { readonly node?: unknown; readonly claim?: unknown };
  if ((node === undefined) === (claim === undefined)) throw optionError("imageCache with one of node and claim", cache);
  if (claim !== undefined) checkObjectName("claim of imageCache", claim);
  else checkAbsolute("node of imageCache", node);
}

/** Checks a path at which a container sees a volume. @throws TypeError */
function checkMountPath(option: string, path: unknown): void {
  checkAbsolute(option, path);
  const own = ownFolders.find((folder) => path === folder || (path as string).startsWith(`${folder}/`));
  if (own !== undefined) throw optionError(`${option} outside of ${own}, which Viceroy uses`, path);
}

/** @throws TypeError if a path is not absolute, or has parts that a volume cannot have */
export function checkAbsolute(option: string, path: unknown): void {
  const isPath = typeof path === "string" && /^\/[^:\0]+$/.test(path);
  if (isPath && !path.split("/").includes("..") && !path.endsWith("/")) return;
  throw optionError(`${option} as an absolute path without "..", ":" and a slash at its end`, path);
}
