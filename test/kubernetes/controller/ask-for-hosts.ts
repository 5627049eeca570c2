/** Lets a process in a pod of a job ask the controller for hosts. */
import type { HostMesh } from "viceroy";
import type { ProvisionMesh } from "viceroy/job";
import { type Crew, moduleOf } from "../../proc/crew.js";
import { until } from "../../proc/until.js";
import { replacementMs } from "../lab/jobs-of-tests.js";
import { backend } from "../lab/on-kubernetes.js";

/** What the process got: the places of actors on the hosts, or the error. */
export interface Got {
  readonly places?: readonly string[];
  readonly name?: string;
  readonly message?: string;
}

export interface Asked {
  readonly releases?: boolean;
  readonly calls?: boolean;
  readonly namespace?: string;
}

/** Starts a process in the first pod, which asks for hosts before its actors start. */
export async function askForHosts(
  crew: Crew,
  pods: HostMesh<"hosts">,
  meshes: Readonly<Record<string, Partial<ProvisionMesh>>>,
  { releases = false, calls = false, ...options }: Asked = {},
) {
  const asked = { meshes, options: { sync: backend === "cluster", ...options }, releases, calls };
  const procs = pods.spawnProcs(
    {},
    { env: { PROVISION: JSON.stringify(asked) }, bootstrap: moduleOf("programs/provision-hosts.ts") },
  );
  const workers = procs.spawn("asker", crew.SteelWorker);
  let text = "";
  await until(async () => {
    [text = ""] = (await workers.env.call("PROVISIONED")).values();
    return text !== "unset";
  }, replacementMs);
  const [where] = (await workers.where.call()).values();
  return { got: JSON.parse(text) as Got, pid: where!.pid, procs, workers };
}
