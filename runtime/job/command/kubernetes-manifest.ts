/**
 * The objects of a job of Kubernetes as `viceroy job manifest` and `viceroy job rbac` print them. Programs, archives and secrets are replaced by
 * notes: the driver writes them when it submits the job, and nobody reads them.
 */
import { type Job, providerOfJob } from "../job.js";
import { hasViewers, isProvisioned, type KubernetesSpec } from "../kubernetes/kubernetes-spec.js";
import { commandAccount } from "../kubernetes/manifest/command-role.js";
import { type JobObjects, jobObjects } from "../kubernetes/manifest/job-objects.js";
import type { KubernetesObject } from "../kubernetes/manifest/objects.js";
import { printDocuments } from "../kubernetes/manifest/print-yaml.js";
import { attachRole, driverRole, viewRole } from "../kubernetes/manifest/role.js";
import type { ReachChoice } from "../kubernetes/reach/pod-reach.js";
import type { JobProvider } from "../provider.js";
import { makeDaemonArchive } from "../ssh/daemon-archive.js";

/** The folder of the built files. */
const dist = new URL("./", import.meta.url);

/** The id of a run that there is not yet. */
const noRun = "00000000-0000-0000-0000-000000000000";

/**
 * Returns the objects in the order in which they are applied.
 * @throws Error if it is another kind of job
 * @throws TypeError, RangeError if a template cannot be used, or copied files have changed
 */
export function manifestObjects(job: Job): KubernetesObject[] {
  const { owner, owned } = objectsOf(describedBy(job, "print the manifest").spec);
  return [owner, ...owned].map(withoutContents);
}

/**
 * Returns the Role that a driver needs, those of programs that attach a shared job or only look at it, and, for jobs that can run a command in a pod, the service account of that pod with its permissions.
 * @throws Error if it is another kind of job
 */
export function rolesOf(job: Job): KubernetesObject[] {
  const { spec, reach } = describedBy(job, "print the Role");
  const makesPods = Object.values(spec.meshes).some(isProvisioned);
  const objects = objectsOf(spec, makesPods);
  const attaching = spec.share ? [attachRole(spec, objects, reach)] : [];
  const looking = hasViewers(spec) ? [viewRole(spec, objects, reach)] : [];
  return [driverRole(spec, objects, reach), ...attaching, ...looking, ...(makesPods ? commandAccount(spec) : [])];
}

/** Returns the text of objects: YAML, or a list in JSON. `kubectl` takes both. */
export function printObjects(objects: readonly KubernetesObject[], json: boolean): string {
  if (json) return JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
  return printDocuments(objects).trimEnd();
}

function describedBy(job: Job, what: string): { readonly spec: KubernetesSpec; readonly reach: ReachChoice } {
  const described = providerOfJob(job) as JobProvider & { readonly reach?: ReachChoice };
  if (described.kind === "kubernetes")
    return { spec: described.spec as KubernetesSpec, reach: described.reach ?? null };
  throw new Error(
    `cannot ${what} of job "${job.name}": it is a job of the provider "${described.kind}"; give a KubernetesJob`,
  );
}

function objectsOf(spec: KubernetesSpec, hasCommand = false): JobObjects {
  const files = { "host.cjs": "", "image.cjs": "", "order.json": "" };
  const daemon = makeDaemonArchive(dist).bytes;
  return jobObjects(spec, { applyId: noRun, files, daemon, isReplaced: true, hasCommand });
}

const note = "The driver writes this when it submits the job.";

function withoutContents(object: KubernetesObject): KubernetesObject {
  if (object.kind !== "ConfigMap") return object;
  const { data = {}, binaryData = {} } = object as { readonly data?: object; readonly binaryData?: object };
  const replaced = (content: object, text: string) =>
    Object.fromEntries(Object.entries(content).map(([name, value]) => [name, name === "image.json" ? value : text]));
  return {
    ...object,
    ...("data" in object ? { data: replaced(data, note) } : {}),
    ...("binaryData" in object ? { binaryData: replaced(binaryData, Buffer.from(note).toString("base64")) } : {}),
  };
}
