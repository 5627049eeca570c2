/** Makes the objects of a run: what is in them, the order, and what is left when one is refused. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { errorMessage } from "../../../shared/text/error-message.js";
import { hostUri } from "../credentials/credentials-folder.js";
import { hostPlaces } from "../mesh-spec.js";
import type { Submission } from "../provider.js";
import { formatRecord, type JobRecord } from "../record/job-record.js";
import { awayLimit, retrying } from "../retry.js";
import { makeDaemonArchive } from "../ssh/daemon-archive.js";
import type { KubernetesApi } from "./api/kubernetes-api.js";
import { type HostOrder, orderName } from "./host/host-order.js";
import { isProvisioned, type KubernetesSpec } from "./kubernetes-spec.js";
import { type JobObjects, type JobRun, ownedBy } from "./manifest/job-objects.js";
import { commandMesh, holderProgram, secretKey } from "./manifest/layout.js";
import type { Labels } from "./manifest/objects.js";

/** The folder of the built files. */
const dist = new URL("./", import.meta.url);

/** Makes the parts of the objects that differ between runs of a job. */
export interface RunFacts extends Pick<Submission, "applyId" | "lostTimeout" | "record"> {
  /** The time in ms for which the hosts stay without a driver. */
  readonly idle: number;
  /** Whether a command runs in a pod of its own. Default: false. */
  readonly hasCommand?: boolean;
  /** The secrets of the hosts by their URIs; absent in a manifest for people. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The record and the credentials for programs on other machines, in base64 by their names; absent: the job is not shared. */
  readonly shared?: Readonly<Record<string, string>> | undefined;
  readonly peers?: readonly object[] | undefined;
  readonly annotations?: Labels | undefined;
  /** The same for programs that only look. */
  readonly viewed?: Readonly<Record<string, string>> | undefined;
}

/** Returns what the objects of a run are made of, besides the options of the job. */
export function jobRun(spec: KubernetesSpec, facts: RunFacts): JobRun {
  const { applyId, lostTimeout, record, idle, secrets, shared, viewed, hasCommand = false } = facts;
  const { peers, annotations } = facts;
  const archive = makeDaemonArchive(dist);
  const order: HostOrder = {
    archive: archive.order,
    hasCertificate: spec.tls !== null,
    hasGateway: spec.ingress !== undefined,
    idle,
    record,
  };
  const program = (name: string) => readFileSync(new URL(name, dist), "utf8");
  const places = [...hostPlaces(provisionedMeshes(spec)), ...(hasCommand ? [{ mesh: commandMesh, rank: 0 }] : [])];
  return {
    applyId,
    files: {
      "host.cjs": program("job-kubernetes-host.cjs"),
      "image.cjs": program("job-kubernetes-image.cjs"),
      ...(hasCommand ? { [holderProgram]: program("job-kubernetes-holder.cjs") } : {}),
      [orderName]: JSON.stringify(order),
    },
    daemon: archive.bytes,
    isReplaced: lostTimeout > 0,
    hasCommand,
    ...(shared === undefined ? {} : { shared }),
    ...(peers === undefined ? {} : { peers }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(viewed === undefined ? {} : { viewed }),
    ...(secrets === undefined
      ? {}
      : {
          secrets: Object.fromEntries(
            places.map((place) => [secretKey(place.mesh, place.rank), base64(secrets[hostUri(applyId, place)] ?? "")]),
          ),
        }),
  };
}

/** Returns the meshes whose pods a job makes. */
export function provisionedMeshes({ meshes }: KubernetesSpec): Readonly<Record<string, { readonly hosts: number }>> {
  const own = Object.entries(meshes).flatMap(([name, mesh]) =>
    isProvisioned(mesh) ? [[name, { hosts: mesh.hosts }]] : [],
  );
  return Object.fromEntries(own);
}

/**
 * Returns the record of a job as its hosts get it: they cannot use the job, and know which one they belong to.
 * @param holder the Job whose pod holds the run; absent: this machine does
 */
export function recordForPods(record: string, holder?: string): string {
  const heldOn = holder === undefined ? hostname() : `pod of ${holder}`;
  return formatRecord({ ...(JSON.parse(record) as JobRecord), heldOn });
}

/**
 * Applies the objects of a run: the owner, then the others at once, then the Jobs.
 * @returns the id of the owner
 * @throws KubernetesError if one of them is refused; none of them is left then
 */
export async function applyObjects(
  api: KubernetesApi,
  { owner, owned }: JobObjects,
  signal: AbortSignal,
): Promise<string> {
  const apply = (object: object) => retrying(() => api.apply(object), { limit: awayLimit, signal });
  const { metadata } = await apply(owner);
  const uid = metadata.uid!;
  try {
    // Pods wait for seconds before they look again for what they do not find, so the Jobs come last.
    for (const objects of [owned.filter(({ kind }) => kind !== "Job"), owned.filter(({ kind }) => kind === "Job")]) {
      signal.throwIfAborted();
      const applied = await Promise.allSettled(objects.map((object) => apply(ownedBy(owner, uid, object))));
      for (const result of applied) if (result.status === "rejected") throw result.reason;
    }
  } catch (error) {
    try {
      await retrying(() => api.delete("ConfigMap", metadata.name!, { uid }), { limit: awayLimit });
    } catch (left) {
      const what = `what was made is left, because it cannot be deleted: ${errorMessage(left)}`;
      throw new Error(`${errorMessage(error)}; ${what}`, { cause: error });
    }
    throw error;
  }
  return uid;
}

/** Returns a text as the data of a Secret. */
export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
