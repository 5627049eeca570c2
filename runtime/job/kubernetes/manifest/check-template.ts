/** Finds what a merged pod template lacks of what a job needs. */
import { canonicalJson } from "../../record/spec-hash.js";
import {
  enrolmentPort,
  gatewayPort,
  hostContainer,
  hostPort,
  imageContainer,
  jobLabel,
  meshLabel,
  runLabel,
} from "./layout.js";
import type { Container, PodTemplate } from "./objects.js";

/** The volumes of which a user can change the kind and the size: their content is written in the pod. */
const freeVolumes = new Set(["store", "tmp", "shared-memory", "image-cache"]);

interface Need {
  /** The path of the field: `spec.containers[host].command`. */
  readonly path: string;
  readonly value: unknown;
  /** Returns the field of a template. */
  readonly find: (template: PodTemplate) => unknown;
  /** What the job uses the field for. */
  readonly use: string;
}

/**
 * @param own the template of the job
 * @param merged the template after that of the user
 * @throws TypeError with the paths of all fields that the job needs and that are gone or differ
 */
export function checkTemplate(mesh: string, own: PodTemplate, merged: PodTemplate): void {
  checkPorts(mesh, merged);
  const broken = needs(own).filter(({ value, find }) => canonicalJson(find(merged)) !== canonicalJson(value));
  if (broken.length === 0) return;
  const fields = broken.map(({ path, find, use }) => {
    const verb = find(merged) === undefined ? "removes" : "changes";
    return `${verb} ${path}, ${use}`;
  });
  throw new TypeError(
    `cannot make a job: the template of mesh "${mesh}" ${fields.join("; it ")}; leave ${broken.length === 1 ? "this field" : "these fields"} out of the template`,
  );
}

/** The ports at which hosts listen, those with an ingress included. */
const usedPorts: readonly unknown[] = [hostPort, enrolmentPort, gatewayPort];

/** Containers of a pod share their ports. @throws TypeError if another container has one of the host */
function checkPorts(mesh: string, { spec = {} }: PodTemplate): void {
  const others = [...(spec.initContainers ?? []), ...(spec.containers ?? [])].filter(
    ({ name }) => name !== hostContainer && name !== imageContainer,
  );
  for (const { name, ports } of others) {
    const declared = Array.isArray(ports) ? (ports as readonly { readonly containerPort?: number }[]) : [];
    const taken = declared.find(({ containerPort }) => usedPorts.includes(containerPort));
    if (taken === undefined) continue;
    throw new TypeError(
      `cannot make a job: the template of mesh "${mesh}" gives container "${name}" the port ${taken.containerPort}, at which the host listens; give it another port`,
    );
  }
}

function needs(own: PodTemplate): Need[] {
  const { spec = {} } = own;
  return [
    ...[jobLabel, meshLabel, runLabel].map((label) =>
      need(own, `metadata.labels["${label}"]`, "by which the job finds its pods", ({ metadata }) => {
        return metadata?.labels?.[label];
      }),
    ),
    need(own, "spec.restartPolicy", "so that a failed pod is replaced", ({ spec }) => spec?.["restartPolicy"]),
    ...(spec.volumes ?? []).map(({ name }) =>
      need(own, `spec.volumes[${name}]`, "which the daemon reads or writes", ({ spec }) => {
        const volume = spec?.volumes?.find((found) => found.name === name);
        return freeVolumes.has(name) ? volume?.name : volume;
      }),
    ),
    ...containerNeeds(own, "containers", hostContainer, "by which the daemon of the host starts"),
    ...(spec.initContainers === undefined
      ? []
      : containerNeeds(own, "initContainers", imageContainer, "by which the steps of the image are applied")),
  ];
}

function containerNeeds(own: PodTemplate, list: "containers" | "initContainers", name: string, use: string): Need[] {
  const found = (template: PodTemplate) => template.spec?.[list]?.find((container) => container.name === name);
  const container = found(own) as Container;
  const path = `spec.${list}[${name}]`;
  const fields = ["command", "args", "ports", "startupProbe", "readinessProbe"].filter(
    (field) => field === "args" || field in container,
  );
  /** Users can change how often a probe tries, and the job needs its own port only. */
  const needed = (field: string, value: unknown) => {
    if (field.endsWith("Probe")) return (value as { readonly tcpSocket?: unknown } | undefined)?.tcpSocket;
    if (field !== "ports" || !Array.isArray(value)) return value;
    return value.find((port) => port.containerPort === hostPort);
  };
  return [
    need(own, path, use, (template) => found(template)?.name),
    ...fields.map((field) => need(own, `${path}.${field}`, use, (template) => needed(field, found(template)?.[field]))),
    ...(container.env ?? [])
      .filter(({ name }) => name.startsWith("VICEROY_") || name === "XDG_CACHE_HOME")
      .map((variable) =>
        need(own, `${path}.env[${variable.name}]`, use, (template) =>
          found(template)?.env?.find((other) => other.name === variable.name),
        ),
      ),
    ...(container.volumeMounts ?? []).map(({ mountPath }) =>
      need(own, `${path}.volumeMounts[${mountPath}]`, use, (template) =>
        found(template)?.volumeMounts?.find((other) => other.mountPath === mountPath),
      ),
    ),
  ];
}

function need(own: PodTemplate, path: string, use: string, find: Need["find"]): Need {
  return { path, use, find, value: find(own) };
}
