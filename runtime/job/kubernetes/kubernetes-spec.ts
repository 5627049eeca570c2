/** The options of a job of Kubernetes, their checks, and the plain JSON that a record contains. */

import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../../shape/check-options.js";
import { optionError } from "../check-option.js";
import { type CheckedOptions, checkJobOptions, type JobOptions, type TlsSpec } from "../job-options.js";
import { checkHostCount, checkMeshes } from "../mesh-spec.js";
import { Compute } from "./compute/compute.js";
import type { ComputeOptions, ComputeSpec } from "./compute/compute-options.js";
import { checkIngress, type IngressSpec, type JobIngress } from "./ingress-options.js";
import { commandMesh } from "./manifest/layout.js";
import {
  checkJobName,
  checkLabels,
  checkLabelValue,
  checkMeshName,
  checkNamespace,
  checkObjectName,
  isLabelKey,
} from "./manifest/names.js";
import type { Labels } from "./manifest/objects.js";
import { defaultControllerUrl } from "./provision/protocol.js";
import type { ReachChoice } from "./reach/pod-reach.js";

/** The options of `KubernetesJob`. */
export interface KubernetesJobOptions<M extends string> extends JobOptions {
  /** The namespace of the pods. */
  readonly namespace: string;
  /**
   * The name of the job, of its objects in Kubernetes, and at the start of the names of its pods. It is the only job of this name in the
   * namespace. Default: `"viceroy"`.
   */
  readonly name?: string;
  /** The meshes by name: pods that the job makes, or pods that are there. */
  readonly meshes: Readonly<Record<M, KubernetesMesh>>;
  /** The queue of Kueue in which the Jobs of the meshes wait. Default: none. */
  readonly queue?: string;
  /** The priority class of the pods. Default: that of the cluster. */
  readonly priorityClass?: string;
  /**
   * Describes the pod in which `job.run` runs its command. Default: as the pods of the first mesh, without their processors, memory and GPUs.
   */
  readonly commandPod?: Compute;
  /** Who besides the pods of the job may connect to its pods. False: no NetworkPolicy is made. Default: `{}`. */
  readonly drivers?: DriverAccess | false;
  /**
   * Whether programs on other machines can attach the job: what they need is in the Secret `<name>-driver`, and whoever may read that Secret is
   * trusted as a driver. Whoever may read `<name>-viewer` only looks; with `tls: false`, there is no such Secret. Default: only programs of this user on this machine can.
   */
  readonly share?: boolean;
  /**
   * Whether programs in the pods of the job may ask the controller in the cluster for further hosts, by `thisJob().provision`: their pods get a
   * token that only the controller accepts. `url` is the address of a controller that is not `viceroy-controller` in the namespace
   * `viceroy-system`. Default: false.
   */
  readonly provision?: boolean | { readonly url: string };
  /**
   * A Service and an Ingress that lead to the driver gateway of the job, so that drivers reach it by a URL (`VICEROY_API_URL`). Default: there
   * are none.
   */
  readonly ingress?: JobIngress;
  /** The kubeconfig file. Default: the service account of the pod in which this program runs, or that of `kubectl`. */
  readonly kubeconfig?: string;
  /** The context in the kubeconfig file. Default: its current context. */
  readonly context?: string;
  /**
   * The way by which this program reaches the pods: `"direct"` uses their addresses, `"api-server"` the API server, which forwards one
   * connection to a pod that forwards to the others. Default: the program connects to the first pod, and goes through the API server
   * if the network does not lead there.
   */
  readonly reach?: "direct" | "api-server";
}

/**
 * Who may connect to the pods of a job. Pods of the namespace that have the label `viceroy/driver` with the name of the job always may.
 */
export interface DriverAccess {
  /** The labels of other pods that may. */
  readonly pods?: Labels;
  /** The labels of the namespace of those pods. Default: the namespace of the job. */
  readonly namespaces?: Labels;
  /** Ranges of addresses from which drivers outside of the cluster come, such as `"10.1.0.0/16"`. */
  readonly addresses?: readonly string[];
}

/** One mesh of a `KubernetesJob`: each host is a pod. */
export type KubernetesMesh = ProvisionedMesh | SelectedMesh;

/** Pods that the job makes. */
export interface ProvisionedMesh extends Pick<ComputeOptions, "hosts" | "cpus" | "memory" | "gpus" | "image"> {
  /** What the pods are like. `cpus`, `memory`, `gpus`, `image` and `hosts` beside it replace those of the compute. */
  readonly compute?: Compute;
}

/** Pods that are there, and stay when the job ends. */
export interface SelectedMesh {
  /** The labels of the pods, as `kubectl get pods --selector` takes them: `"app=worker,tier!=test"`. */
  readonly selector: string;
  /** The number of hosts: the job waits until the selector finds a pod of each rank below it. */
  readonly hosts: number;
  /**
   * How the rank of a pod is known: by a label, by the completion index of its Job, or by the number in its StatefulSet. Default: the first of
   * the completion index and the number that the pods have.
   */
  readonly rank?: { readonly label: string } | "job" | "statefulset";
}

/** The checked options of a job of Kubernetes. They are plain JSON. */
export type KubernetesSpec = {
  readonly namespace: string;
  readonly name: string;
  readonly meshes: Readonly<Record<string, KubernetesMeshSpec>>;
  readonly queue: string | null;
  readonly priorityClass: string | null;
  /** Null: it is as the pods of the first mesh. */
  readonly commandPod: ComputeSpec | null;
  /** Null: there is no NetworkPolicy. */
  readonly drivers: DriverAccess | null;
  readonly share: boolean;
  /** The controller that programs in the pods ask for hosts; absent: they ask none. */
  readonly provision?: { readonly url: string };
  /** Absent: drivers do not reach it by a URL. */
  readonly ingress?: IngressSpec;
  readonly kubeconfig: string | null;
  readonly context: string | null;
  readonly tls: TlsSpec | null;
  readonly setup: string | null;
  readonly node: string | null;
};

/** One mesh after the check. */
export type KubernetesMeshSpec = ProvisionedMeshSpec | SelectedMeshSpec;

/** A mesh of pods that the job makes. */
export type ProvisionedMeshSpec = { readonly hosts: number; readonly compute: ComputeSpec };

/** A mesh of pods that are there. */
export type SelectedMeshSpec = {
  readonly hosts: number;
  readonly selector: string;
  readonly rank: { readonly label: string } | "job" | "statefulset" | null;
};

/** Returns whether programs on other machines can look at the job with rights of their own. A token would give them all rights. */
export function hasViewers({ share, tls }: Pick<KubernetesSpec, "share" | "tls">): boolean {
  return share && tls !== null;
}

/** Returns whether the job makes the pods of a mesh. */
export function isProvisioned(mesh: KubernetesMeshSpec): mesh is ProvisionedMeshSpec {
  return "compute" in mesh;
}

const computeNames = ["hosts", "cpus", "memory", "gpus", "image", "compute"] as const;
const selectorNames = ["selector", "hosts", "rank"] as const;

const ownOptions = [
  "namespace",
  "meshes",
  "queue",
  "priorityClass",
  "commandPod",
  "drivers",
  "share",
  "provision",
  "ingress",
  "kubeconfig",
  "context",
  "reach",
] satisfies readonly (keyof KubernetesJobOptions<string>)[];

/** The options of a job of Kubernetes after their check. */
export interface CheckedKubernetesJob {
  readonly options: CheckedOptions;
  readonly spec: KubernetesSpec;
  /** This is not part of the specification, so that programs in and outside of the cluster use the same run. */
  readonly reach: ReachChoice;
}

/**
 * Checks the options of a `KubernetesJob`.
 * @throws TypeError if an option is unknown or malformed, or Kubernetes would refuse a name
 * @throws RangeError if a number is out of range
 */
export function checkKubernetesJob(given: KubernetesJobOptions<string>): CheckedKubernetesJob {
  const options = checkJobOptions(given, ownOptions);
  const { name, setup, node, tls } = options;
  const { namespace, queue, priorityClass, share = false, kubeconfig, context, reach } = given;
  checkJobName(name);
  checkNamespace(namespace);
  if (queue !== undefined) checkLabelValue("queue", queue);
  if (priorityClass !== undefined) checkObjectName("priorityClass", priorityClass);
  for (const [option, value] of Object.entries({ kubeconfig, context })) {
    if (value !== undefined && (typeof value !== "string" || value === ""))
      throw optionError(`${option} as text`, value);
  }
  if (reach !== undefined && reach !== "direct" && reach !== "api-server") {
    throw optionError('reach as "direct" or "api-server"', reach);
  }
  if (typeof share !== "boolean") throw optionError("share as true or false", share);
  checkMeshes(withoutOwnChecks(given.meshes), [...computeNames, ...selectorNames]);
  const meshes = Object.entries<KubernetesMesh>(given.meshes).map(([mesh, asked]) => [
    mesh,
    checkMesh(name, mesh, asked),
  ]);
  const drivers = checkDrivers(given.drivers);
  return {
    options,
    reach: reach ?? null,
    spec: {
      namespace,
      name,
      meshes: Object.fromEntries(meshes) as Record<string, KubernetesMeshSpec>,
      queue: queue ?? null,
      priorityClass: priorityClass ?? null,
      commandPod: checkCommandPod(name, given.commandPod),
      drivers,
      share,
      ...checkProvision(given.provision),
      ...(given.ingress === undefined ? {} : { ingress: checkIngress(given.ingress, drivers !== null, tls !== null) }),
      kubeconfig: kubeconfig ?? null,
      context: context ?? null,
      tls,
      setup,
      node,
    },
  };
}

/** Returns the options of which a job with this specification is made. */
export function optionsOf({ tls, drivers, meshes, commandPod, ...spec }: KubernetesSpec): KubernetesJobOptions<string> {
  const given = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null)) as typeof spec;
  const asked = Object.entries(meshes).map(([name, mesh]): [string, KubernetesMesh] => {
    if (isProvisioned(mesh)) return [name, { hosts: mesh.hosts, compute: Compute.fromJSON(mesh.compute) }];
    const { hosts, rank, selector } = mesh;
    return [name, { selector, hosts, ...(rank === null ? {} : { rank }) }];
  });
  return {
    ...(given as unknown as Pick<KubernetesJobOptions<string>, "namespace">),
    meshes: Object.fromEntries(asked),
    ...(commandPod === null ? {} : { commandPod: Compute.fromJSON(commandPod) }),
    tls: tls ?? false,
    drivers: drivers ?? false,
  };
}

/** Leaves out the numbers and amounts, which Kubernetes counts in other units than other schedulers. */
function withoutOwnChecks(meshes: unknown): unknown {
  if (typeof meshes !== "object" || meshes === null || Array.isArray(meshes)) return meshes;
  const isPlain = (mesh: unknown) => typeof mesh === "object" && mesh !== null && !Array.isArray(mesh);
  return Object.fromEntries(
    Object.entries(meshes).map(([name, mesh]) => [
      name,
      isPlain(mesh) ? { ...(mesh as object), cpus: undefined, gpus: undefined, memory: undefined } : mesh,
    ]),
  );
}

function checkMesh(job: string, mesh: string, asked: KubernetesMesh): KubernetesMeshSpec {
  const isSelected = "selector" in asked;
  const other = Object.keys(asked).find(
    (option) => !(isSelected ? selectorNames : computeNames).includes(option as never),
  );
  if (other !== undefined) {
    throw optionError(
      isSelected
        ? `mesh "${mesh}" with selector, hosts and rank only, because its pods are there already`
        : `mesh "${mesh}" with selector if it has rank`,
      other,
    );
  }
  return isSelected ? checkSelected(mesh, asked) : checkProvisioned(job, mesh, asked);
}

function checkProvisioned(job: string, mesh: string, asked: ProvisionedMesh): ProvisionedMeshSpec {
  const { compute, ...own } = asked;
  if (compute !== undefined && !(compute instanceof Compute)) {
    throw optionError(`compute of mesh "${mesh}" as a Compute`, compute);
  }
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  let spec: ComputeSpec;
  try {
    spec = Compute.fromJSON({ ...compute?.spec, ...given }).spec;
  } catch (error) {
    // The message names the option, and the mesh tells which of them.
    if (error instanceof Error)
      error.message = error.message.replace("cannot make a job:", `cannot make mesh "${mesh}" of a job:`);
    throw error;
  }
  const { hosts, ...rest } = spec;
  checkHostCount(mesh, hosts);
  checkMeshName(job, mesh, hosts!);
  // The template is merged now, so that one that the job cannot use is refused before anything is submitted.
  Compute.fromJSON(rest).podTemplate(job, mesh);
  return { hosts: hosts!, compute: rest };
}

/** Returns the address of the controller. It is left out of jobs without one, so that their records stay those of earlier versions. */
function checkProvision(
  provision: KubernetesJobOptions<string>["provision"] = false,
): Pick<KubernetesSpec, "provision"> {
  if (provision === false) return {};
  if (provision === true) return { provision: { url: defaultControllerUrl } };
  if (typeof provision !== "object" || provision === null) {
    throw optionError("provision as true, false or { url }", provision);
  }
  checkOptionNames("cannot make a job with provision", provision, ["url"]);
  const { url } = provision;
  if (typeof url === "string" && URL.canParse(url) && new URL(url).protocol === "https:") return { provision: { url } };
  throw optionError('url of provision as an address such as "https://viceroy-controller.viceroy-system.svc"', url);
}

function checkCommandPod(job: string, compute: KubernetesJobOptions<string>["commandPod"]): ComputeSpec | null {
  if (compute === undefined) return null;
  if (!(compute instanceof Compute)) throw optionError("commandPod as a Compute", compute);
  const { hosts: _, ...spec } = compute.spec;
  // As for meshes, a template that cannot be used is refused now.
  Compute.fromJSON(spec).podTemplate(job, commandMesh);
  return spec;
}

/** One requirement of a label selector: `key`, `!key`, `key=value`, `key!=value`, `key in (a,b)`. */
const requirement =
  /^(?:!?\s*([^\s=!(),]+)|([^\s=!(),]+)\s*(?:=|==|!=)\s*([^\s=!(),]*)|([^\s=!(),]+)\s+(?:in|notin)\s*\(([^()]*)\))$/;

function checkSelected(mesh: string, { selector, hosts, rank }: SelectedMesh): SelectedMeshSpec {
  const parts = typeof selector === "string" ? selector.split(/,(?![^(]*\))/).map((part) => part.trim()) : [];
  const isSelector = parts.every((part) => {
    const [, exists, compared, , listed] = requirement.exec(part) ?? [];
    const key = exists ?? compared ?? listed;
    return key !== undefined && isLabelKey(key);
  });
  if (parts.length === 0 || !isSelector) {
    throw optionError(`selector of mesh "${mesh}" as labels of pods, such as "app=worker"`, selector);
  }
  if (hosts === undefined) throw optionError(`hosts of mesh "${mesh}" as the number of its pods`, hosts);
  checkHostCount(mesh, hosts);
  if (rank !== undefined && rank !== "job" && rank !== "statefulset") {
    checkOptionNames(`cannot make mesh "${mesh}" of a job with rank`, rank, ["label"]);
    if (typeof rank.label !== "string" || !isLabelKey(rank.label)) {
      throw optionError(`rank of mesh "${mesh}" as { label: "…" }, "job" or "statefulset"`, rank.label);
    }
  }
  return { selector, hosts, rank: rank ?? null };
}

function checkDrivers(drivers: KubernetesJobOptions<string>["drivers"] = {}): DriverAccess | null {
  if (drivers === false) return null;
  checkOptionNames("cannot make a job with drivers", drivers, ["pods", "namespaces", "addresses"]);
  const { pods, namespaces, addresses = [] } = drivers;
  if (pods !== undefined) checkLabels("pods of drivers", pods);
  if (namespaces !== undefined) checkLabels("namespaces of drivers", namespaces);
  if (!Array.isArray(addresses)) throw optionError("addresses of drivers as a list of ranges", addresses);
  for (const range of addresses) {
    if (typeof range === "string" && /^[\d.]+\/(?:\d|[12]\d|3[0-2])$|^[\da-f:]+\/\d{1,3}$/i.test(range)) continue;
    throw new TypeError(
      `cannot make a job: expected each of addresses of drivers as a range, such as "10.1.0.0/16", or "192.0.2.7/32" for one address, got ${describeValue(range)}`,
    );
  }
  return drivers;
}
