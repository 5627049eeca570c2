/** Gives meshes of a running job more hosts: their Jobs make more pods, or pods are there that a selector finds. If one does not come up, all are given back. */
import { randomUUID } from "node:crypto";
import { errorMessage } from "../../../../shared/text/error-message.js";
import { holding } from "../../batch/batch-run.js";
import type { HostPlace } from "../../mesh-spec.js";
import type { Report } from "../../provider.js";
import type { KubernetesApi } from "../api/kubernetes-api.js";
import { KubernetesError } from "../api/kubernetes-error.js";
import { isProvisioned, type KubernetesSpec } from "../kubernetes-spec.js";
import { checkMeshName } from "../manifest/names.js";
import type { JobComplaints } from "../pods/job-complaints.js";
import type { PodFeed } from "../pods/pod-feed.js";
import type { PodFacts, PodState } from "../pods/pod-state.js";
import { HostWait } from "../pods/ready-hosts.js";
import { untilEnded } from "./ended-pods.js";
import type { JobScaler } from "./job-scaler.js";
import type { JobSizes } from "./job-sizes.js";

export interface MeshGrowthOptions {
  readonly spec: KubernetesSpec;
  readonly api: KubernetesApi;
  readonly feed: PodFeed;
  readonly complaints: JobComplaints;
  readonly sizes: JobSizes;
  readonly scalerOf: (mesh: string) => JobScaler;
  /** Writes the secrets of hosts that are new, before their pods are made. */
  readonly writeSecrets: (places: readonly HostPlace[]) => Promise<void>;
  readonly report: Report;
}

/** The growth of one mesh. */
interface Growth {
  readonly mesh: string;
  readonly first: number;
  readonly hosts: number;
  readonly id: string;
}

/**
 * Returns the pods at the places when they are Ready.
 * @throws Error with the reason, in the words of Kubernetes, if one of them does not come up, or `signal` is aborted before
 */
export async function growMeshes(
  options: MeshGrowthOptions,
  places: readonly HostPlace[],
  signal: AbortSignal,
): Promise<readonly PodFacts[]> {
  const { spec, feed, scalerOf, writeSecrets } = options;
  const growths = growthsOf(places);
  const made = growths.filter(({ mesh }) => isProvisioned(spec.meshes[mesh]!));
  for (const { mesh, hosts } of made) checkCanGrow(spec, mesh, hosts);
  const begun: Growth[] = [];
  /** The ids of pods that have ended at these places before. */
  const earlier = new Set<string>();
  try {
    let isFound = true;
    for (const growth of made) {
      const { mesh, id, first, hosts } = growth;
      const prepare = async (ranks: readonly number[]) => {
        const further = ranks.map((rank) => ({ mesh, rank }));
        for (const uid of await holding(untilEnded(feed, further, signal))) earlier.add(uid);
        await writeSecrets(further);
      };
      begun.push(growth);
      isFound = (await scalerOf(mesh).grow(id, first, hosts, prepare, signal)) && isFound;
    }
    const isAgain = isFound && made.length > 0;
    const pods = await holding(readyPods(options, { growths, places, earlier, isAgain }, signal));
    for (const { mesh, id, hosts } of made) await scalerOf(mesh).finish(id, hosts);
    return pods;
  } catch (cause) {
    const results = await Promise.allSettled(begun.map(({ mesh, id }) => scalerOf(mesh).giveBack(id)));
    // Nothing is left of a Job that has ended.
    const failed = results.find((result) => result.status === "rejected" && result.reason instanceof KubernetesError);
    if (failed === undefined) throw cause;
    const rest = `the hosts are not given back: ${errorMessage((failed as PromiseRejectedResult).reason)}; resize the job again when its API server answers`;
    throw new Error(`${errorMessage(cause)}; ${rest}`, { cause });
  }
}

function growthsOf(places: readonly HostPlace[]): Growth[] {
  return [...new Set(places.map(({ mesh }) => mesh))].map((mesh) => {
    const ranks = places.filter((place) => place.mesh === mesh).map(({ rank }) => rank);
    return { mesh, first: Math.min(...ranks), hosts: Math.max(...ranks) + 1, id: randomUUID() };
  });
}

/** @throws Error if Kubernetes, or a queue, would not let a mesh grow */
function checkCanGrow({ name, queue, meshes }: KubernetesSpec, mesh: string, hosts: number): void {
  checkMeshName(name, mesh, hosts);
  const spec = meshes[mesh]!;
  const waitsIn = isProvisioned(spec) ? (spec.compute.queue ?? queue) : null;
  if (waitsIn === null) return;
  throw new Error(
    `mesh "${mesh}" is in the queue "${waitsIn}", which has admitted its hosts together, and would end all of them if their number changed; ` +
      "submit another job for more hosts, with another name and a cache of its own",
  );
}

interface WantedPods {
  readonly growths: readonly Growth[];
  readonly places: readonly HostPlace[];
  readonly earlier: ReadonlySet<string>;
  /** Whether the pods may have been up before. */
  readonly isAgain: boolean;
}

/** Waits for the pods, and tells what keeps them. */
async function readyPods(
  { spec, feed, complaints, sizes, report }: MeshGrowthOptions,
  { growths, places, earlier, isAgain }: WantedPods,
  signal: AbortSignal,
): Promise<readonly PodFacts[]> {
  const grown = growths.map(({ mesh, hosts }) => [mesh, { ...spec.meshes[mesh]!, hosts }] as const);
  const wait = new HostWait({ ...spec, meshes: Object.fromEntries(grown) }, isAgain, report, {
    places,
    errorOf: (reason) => new Error(reason),
  });
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  /** Why the Jobs make no pods. */
  let refusal = "";
  const note: Report = (event) => {
    // Other meshes of the run may lack pods at the same time.
    if (growths.some(({ mesh }) => mesh === event.mesh)) refusal = event.reason;
    report(event);
  };
  const makesPods = growths.some(({ mesh }) => isProvisioned(spec.meshes[mesh]!));
  const leave = makesPods ? complaints.listen({ report: note, onDenied: (reason) => wait.denied(reason) }) : () => {};
  const look = (state: PodState) => wait.look(new Map([...state].filter(([uid]) => !earlier.has(uid))));
  try {
    return await Promise.race([feed.until(look, either), sizes.untilGone(places, either)]);
  } catch (cause) {
    if (!signal.aborted) throw cause;
    const why = [feed.awayReason, wait.reason, wait.lacksPods ? refusal : ""].filter((text) => text).join("; ");
    throw why === "" ? cause : new Error(why, { cause });
  } finally {
    ending.abort();
    leave();
  }
}
