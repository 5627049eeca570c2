/** All objects of a job of Kubernetes, in the order in which they are applied. */

import { type ImageBundle, imageBundle } from "../image/image-bundle.js";
import { hasViewers, isProvisioned, type KubernetesSpec, type ProvisionedMeshSpec } from "../kubernetes-spec.js";
import { commandCompute } from "./command-compute.js";
import { indexedJob } from "./indexed-job.js";
import { ingressObjects } from "./ingress.js";
import {
  commandLabel,
  commandMesh,
  filesName,
  hostPort,
  jobLabel,
  partBytes,
  programName,
  runLabel,
  secretKey,
  secretName,
  sharedSecretName,
  viewerSecretName,
} from "./layout.js";
import { networkPolicy } from "./network-policy.js";
import type { KubernetesObject, Labels } from "./objects.js";
import { imageOf, podTemplate } from "./pod-template.js";

/** The facts on which the objects of one run depend besides the options. */
export interface JobRun {
  /** The id of the run. */
  readonly applyId: string;
  /** Files of the folder for programs in the pods by name: `host.cjs`, `image.cjs`, the record of the job. */
  readonly files: Readonly<Record<string, string>>;
  /** The compressed archive of the daemon. */
  readonly daemon: Uint8Array;
  /** Whether a host that is lost is replaced. */
  readonly isReplaced: boolean;
  /** Whether a command runs in a pod of its own. Default: false. */
  readonly hasCommand?: boolean;
  /** The secrets of the hosts, in base64 by the keys of {@link secretKey}; absent: they are empty. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The record and the credentials for programs on other machines, in base64 by their names; absent: there are none yet. */
  readonly shared?: Readonly<Record<string, string>>;
  /** Further peers of the NetworkPolicy, which may connect to the pods. Default: none. */
  readonly peers?: readonly object[];
  /** The annotations of the owner of all objects. Default: none. */
  readonly annotations?: Labels;
  /** The same for programs that only look. */
  readonly viewed?: Readonly<Record<string, string>>;
}

/** The objects of a job. */
export interface JobObjects {
  /** The object that owns all others: to delete it deletes them. */
  readonly owner: KubernetesObject;
  /** The other objects. They have no owner yet: see {@link ownedBy}. */
  readonly owned: readonly KubernetesObject[];
}

/**
 * Returns the objects of a job whose pods are made.
 * @throws TypeError, RangeError if a template cannot be used, or copied files have changed
 */
export function jobObjects(spec: KubernetesSpec, run: JobRun): JobObjects {
  const { name, namespace } = spec;
  const { hasCommand = false } = run;
  const labels = { [jobLabel]: name, [runLabel]: run.applyId };
  const meshes = Object.entries(spec.meshes).filter((entry): entry is [string, ProvisionedMeshSpec] =>
    isProvisioned(entry[1]),
  );
  if (hasCommand) meshes.push([commandMesh, { hosts: 1, compute: commandCompute(spec) }]);
  const images = new Map(meshes.map(([mesh, { compute }]) => [mesh, imageBundle(imageOf(compute))]));
  const programs = parts(run.daemon);
  const jobs = meshes.map(([mesh, { hosts, compute }]) => {
    const isCommand = hasCommand && mesh === commandMesh;
    const withDefaults = {
      ...(spec.priorityClass === null ? {} : { priorityClass: spec.priorityClass }),
      // The queue of the job is for its hosts.
      ...(spec.queue === null || isCommand ? {} : { queue: spec.queue }),
      ...compute,
    };
    const template = podTemplate(withDefaults, {
      job: name,
      mesh,
      run: run.applyId,
      setup: spec.setup,
      node: spec.node,
      programs: programs.length,
      images: imageParts(images.get(mesh)).length,
      isCommand,
      controller: spec.provision?.url,
    });
    const described = { mesh, hosts, labels, template, queue: withDefaults.queue };
    return indexedJob(spec, { ...described, isReplaced: run.isReplaced && !isCommand, isEvictedForGood: isCommand });
  });
  const configMap = (map: string, content: object): KubernetesObject =>
    object("v1", "ConfigMap", namespace, map, labels, content);
  return {
    owner: annotated(
      object(
        "v1",
        "ConfigMap",
        namespace,
        name,
        { ...labels, ...(hasCommand ? { [commandLabel]: "true" } : {}) },
        {
          data: run.files,
        },
      ),
      run.annotations,
    ),
    owned: [
      object("v1", "Service", namespace, name, labels, {
        spec: {
          clusterIP: "None",
          // Hosts find each other before they are ready.
          publishNotReadyAddresses: true,
          selector: { [jobLabel]: name },
          ports: [{ name: "viceroy", port: hostPort }],
        },
      }),
      ...(spec.ingress === undefined
        ? []
        : ingressObjects(spec.ingress, { name, namespace, mesh: meshes[0]![0], labels })),
      ...(spec.drivers === null ? [] : [networkPolicy(spec, spec.drivers, labels, run.peers)]),
      object("v1", "Secret", namespace, secretName(name), labels, {
        type: "Opaque",
        data: Object.fromEntries(secretKeys(meshes).map((key) => [key, run.secrets?.[key] ?? ""])),
      }),
      ...(spec.share
        ? [
            object("v1", "Secret", namespace, sharedSecretName(name), labels, {
              type: "Opaque",
              data: run.shared ?? {},
            }),
          ]
        : []),
      ...(hasViewers(spec)
        ? [
            object("v1", "Secret", namespace, viewerSecretName(name), labels, {
              type: "Opaque",
              data: run.viewed ?? {},
            }),
          ]
        : []),
      ...programs.map((part, index) =>
        configMap(programName(name, index), { binaryData: { [`daemon.${index}`]: part } }),
      ),
      ...meshes.flatMap(([mesh]) =>
        imageParts(images.get(mesh)).map((part, index) => configMap(filesName(name, mesh, index), part)),
      ),
      ...jobs,
    ],
  };
}

/**
 * Returns an object that Kubernetes deletes with its owner.
 * @param uid the id that the API server has given to the owner
 */
export function ownedBy(
  { apiVersion, kind, metadata }: KubernetesObject,
  uid: string,
  owned: KubernetesObject,
): KubernetesObject {
  const ownerReferences = [{ apiVersion, kind, name: metadata.name!, uid }];
  return { ...owned, metadata: { ...owned.metadata, ownerReferences } };
}

function annotated(object: KubernetesObject, annotations: Labels | undefined): KubernetesObject {
  return annotations === undefined ? object : { ...object, metadata: { ...object.metadata, annotations } };
}

/** Returns the keys of the one-time secrets of all hosts. */
function secretKeys(meshes: readonly (readonly [string, ProvisionedMeshSpec])[]): string[] {
  return meshes.flatMap(([mesh, { hosts }]) => Array.from({ length: hosts }, (_, rank) => secretKey(mesh, rank)));
}

function imageParts(bundle: ImageBundle | undefined): object[] {
  if (bundle === undefined) return [];
  const [first, ...others] = parts(bundle.archive).map((part, index) => ({ binaryData: { [`files.${index}`]: part } }));
  return [{ data: { "image.json": JSON.stringify(bundle.order) }, ...first }, ...others];
}

/** Returns bytes in base64, in parts that a ConfigMap can contain. */
function parts(bytes: Uint8Array): string[] {
  const count = Math.ceil(bytes.length / partBytes);
  return Array.from({ length: count }, (_, part) =>
    Buffer.from(bytes.subarray(part * partBytes, (part + 1) * partBytes)).toString("base64"),
  );
}

function object(
  apiVersion: string,
  kind: string,
  namespace: string,
  name: string,
  labels: Labels,
  content: object,
): KubernetesObject {
  return { apiVersion, kind, metadata: { name, namespace, labels }, ...content };
}
