/** Reads what SkyPilot says about clusters. It reads plain JSON alone. */
import { isObject } from "./plain-json.js";

/** The state of a cluster. `"INIT"`: it is launched, or something of it does not work. */
export type ClusterStatus = "INIT" | "UP" | "STOPPED";

/** A cluster, as SkyPilot describes it. */
export interface Cluster {
  readonly name: string;
  readonly status: ClusterStatus;
  /** The id of this cluster. Another one of the same name has another id. */
  readonly hash: string;
  /** The number of its machines. */
  readonly nodes: number;
  /** The name of the cloud; undefined if none was chosen yet. */
  readonly cloud: string | undefined;
  readonly region: string | undefined;
  /** Minutes without work after which the cluster stops or goes down; undefined if it stays. */
  readonly autostop: number | undefined;
  /** Whether the cluster goes down then, and does not only stop. */
  readonly autodown: boolean;
  /** Why the cluster is in its state, in SkyPilot's words; undefined if it says nothing. */
  readonly reason: string | undefined;
}

/** The states of a run of a task, in the order in which it has them; the last five are ends. */
const jobStatuses = [
  "INIT",
  "PENDING",
  "SETTING_UP",
  "RUNNING",
  "SUCCEEDED",
  "FAILED",
  "FAILED_SETUP",
  "FAILED_DRIVER",
  "CANCELLED",
] as const;

export type JobStatus = (typeof jobStatuses)[number];

/** A run of a task on a cluster. */
export interface ClusterJob {
  readonly id: number;
  readonly name: string;
  readonly status: JobStatus;
}

/** Reads the answer about the runs of a task; undefined if it is something else. */
export function parseJobs(value: unknown): ClusterJob[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const jobs = value.map((job: unknown) => {
    if (!isObject(job)) return undefined;
    const { job_id: id, job_name: name, status } = job;
    const known = jobStatuses.find((each) => each === status);
    if (typeof id !== "number" || typeof name !== "string" || known === undefined) return undefined;
    return { id, name, status: known };
  });
  return jobs.every((job) => job !== undefined) ? jobs : undefined;
}

/** The states in which a run of a task ends. */
const ends: ReadonlySet<JobStatus> = new Set(jobStatuses.slice(jobStatuses.indexOf("SUCCEEDED")));

export function hasEnded({ status }: ClusterJob): boolean {
  return ends.has(status);
}

/** Reads the answer about costs, in which a name has several entries if several clusters have had it; undefined if there is none of the name. */
export function parseCost(value: unknown, cluster: string): number | undefined {
  if (!Array.isArray(value)) return undefined;
  const costs = value
    .filter(isObject)
    .flatMap(({ name, total_cost: cost }) => (name === cluster && typeof cost === "number" && cost >= 0 ? [cost] : []));
  return costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
}

/** Reads the answer about clusters; undefined if it is something else. */
export function parseClusters(value: unknown): Cluster[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const clusters = value.map(parseCluster);
  return clusters.every((cluster) => cluster !== undefined) ? clusters : undefined;
}

function parseCluster(value: unknown): Cluster | undefined {
  if (!isObject(value)) return undefined;
  const { name, status, cluster_hash: hash, nodes, autostop } = value;
  if (typeof name !== "string" || !isStatus(status) || typeof hash !== "string") return undefined;
  return {
    name,
    status,
    hash,
    nodes: typeof nodes === "number" ? nodes : 0,
    cloud: textOf(value["cloud"]),
    region: textOf(value["region"]),
    autostop: typeof autostop === "number" && autostop >= 0 ? autostop : undefined,
    autodown: value["to_down"] === true,
    reason: textOf(value["init_status_reason"]) ?? textOf(value["last_event"]),
  };
}

function isStatus(value: unknown): value is ClusterStatus {
  return value === "INIT" || value === "UP" || value === "STOPPED";
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
