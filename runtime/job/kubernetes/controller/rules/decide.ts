/** Decides by the rules whether a pod gets the hosts that it asks for. A pure function of the rules, the request, and what is used. */
import type { ComputeSpec } from "../../compute/compute-options.js";
import { memoryQuantity } from "../../manifest/quantity.js";
import type { ProvisionRequest } from "../../provision/protocol.js";
import { matchesAny } from "./glob.js";
import type { Rules } from "./parse-rules.js";
import { plainOptions, type Rule } from "./rule.js";

/** A pod that asks for hosts, as the API server has proved it. */
export interface Asker {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** The name and the id of the pod. */
  readonly pod: string;
  readonly uid: string;
  /** The job of the pod. */
  readonly job: string;
}

/** The amounts that a job has by a rule, or asks for. */
export interface Usage {
  readonly jobs: number;
  readonly hosts: number;
  readonly gpus: number;
  readonly cpus: number;
  /** Bytes. */
  readonly memory: number;
}

/** The rule that allows a request, and the namespace of the hosts; or why none does. */
export type Decision =
  | { readonly rule: string; readonly namespace: string; readonly denied?: undefined }
  | { readonly denied: string };

/** @param usedBy returns what the job of the pod has by a rule now */
export function decide(
  rules: Rules,
  asker: Asker,
  request: ProvisionRequest,
  usedBy: (rule: string) => Usage,
): Decision {
  if (rules.fault !== undefined) {
    return { denied: `the rules of the controller cannot be used, so nothing is allowed: ${rules.fault}` };
  }
  const own = rules.rules.filter(({ who }) => isSubject(who, asker));
  if (own.length === 0) {
    const { namespace, serviceAccount, job } = asker;
    return {
      denied: `no rule applies to job "${job}" of service account "${serviceAccount}" in namespace "${namespace}"`,
    };
  }
  const faults: string[] = [];
  for (const rule of own) {
    const namespace = namespaceOf(rule, asker, request);
    const why =
      namespaceFault(rule, asker, namespace) ??
      shapeFault(rule, request) ??
      limitFault(rule, request, usedBy(rule.name));
    if (why === undefined) return { rule: rule.name, namespace };
    faults.push(`rule "${rule.name}" ${why}`);
  }
  return { denied: faults.join("; ") };
}

function isSubject(who: Rule["who"], { namespace, serviceAccount, job }: Asker): boolean {
  return (
    who.namespaces.includes(namespace) && matchesAny(who.serviceAccounts, serviceAccount) && matchesAny(who.jobs, job)
  );
}

function namespaceOf({ allow }: Rule, asker: Asker, { namespace }: ProvisionRequest): string {
  if (namespace !== undefined) return namespace;
  if (allow.namespaces === undefined || allow.namespaces.includes(asker.namespace)) return asker.namespace;
  return allow.namespaces[0]!;
}

function namespaceFault({ allow }: Rule, asker: Asker, namespace: string): string | undefined {
  const allowed = allow.namespaces ?? [asker.namespace];
  return allowed.includes(namespace)
    ? undefined
    : `allows hosts in ${list(allowed)}, and not in namespace "${namespace}"`;
}

/** Returns why a rule does not allow pods of this kind, however few. */
function shapeFault({ allow }: Rule, { meshes }: ProvisionRequest): string | undefined {
  for (const [mesh, spec] of Object.entries(meshes)) {
    const options = Object.keys(spec) as (keyof ComputeSpec)[];
    const other = options.find((name) => !([...plainOptions, ...allow.options] as readonly string[]).includes(name));
    if (other !== undefined) {
      return `does not allow the option ${other} of mesh "${mesh}"; its options are ${list(allow.options)}`;
    }
    const image = spec.image as string;
    if (!matchesAny(allow.images, image)) {
      return `allows the images ${list(allow.images)}, and not "${image}" of mesh "${mesh}"`;
    }
    for (const amount of ["cpus", "memory"] as const) {
      if (allow[amount] === undefined || spec[amount] !== undefined) continue;
      return `limits ${amount}, and mesh "${mesh}" does not say how much each of its hosts needs; give ${amount}`;
    }
  }
  return undefined;
}

const amounts: readonly { readonly name: keyof Usage; readonly text: (amount: number) => string }[] = [
  { name: "jobs", text: (amount) => `${amount} requests` },
  { name: "hosts", text: (amount) => `${amount} hosts` },
  { name: "gpus", text: (amount) => `${amount} GPUs` },
  { name: "cpus", text: (amount) => `${amount} processors` },
  { name: "memory", text: (amount) => `${memoryQuantity(amount)} of memory` },
];

function limitFault({ allow }: Rule, request: ProvisionRequest, used: Usage): string | undefined {
  const asked = usageOf(request);
  for (const { name, text } of amounts) {
    const most = allow[name];
    if (most === undefined || used[name] + asked[name] <= most) continue;
    return `allows a job at most ${text(most)} at the same time: ${text(asked[name])} are asked for, and ${text(used[name])} are used`;
  }
  return undefined;
}

/** Returns what a request asks for in total. */
export function usageOf({ meshes }: ProvisionRequest): Usage {
  const sum = (amount: (spec: ComputeSpec) => number) =>
    Object.values(meshes).reduce((total, spec) => total + (spec.hosts ?? 1) * amount(spec), 0);
  return {
    jobs: 1,
    hosts: sum(() => 1),
    gpus: sum(({ gpus = 0 }) => gpus),
    cpus: sum(({ cpus = 0 }) => cpus),
    memory: sum(({ memory = 0 }) => memory),
  };
}

/** Returns the sum of several amounts. */
export function totalUsage(usages: readonly Usage[]): Usage {
  const sum = (name: keyof Usage) => usages.reduce((total, usage) => total + usage[name], 0);
  return { jobs: sum("jobs"), hosts: sum("hosts"), gpus: sum("gpus"), cpus: sum("cpus"), memory: sum("memory") };
}

function list(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.map((name) => `"${name}"`).join(", ");
}
