/**
 * The Jobs of a run that make no pods because they are suspended: a queue such as that of Kueue holds a Job until there is room for all its pods, and
 * suspends it again to give its place to others.
 */
import type { Report } from "../../provider.js";
import type { ApiObject, KubernetesApi } from "../api/kubernetes-api.js";
import { queueLabel } from "../manifest/layout.js";
import { observe, seeEach } from "./observe.js";
import type { EventObject } from "./pod-object.js";

/** A Job that is suspended. */
interface Hold {
  readonly job: string;
  /** The queue that its label names; undefined if somebody has suspended it who is no queue. */
  readonly queue: string | undefined;
}

/** Returns the hold of a Job; undefined if it is not suspended. */
function holdOf({ metadata, spec }: ApiObject): Hold | undefined {
  if ((spec as { readonly suspend?: boolean } | undefined)?.suspend !== true) return undefined;
  return { job: metadata.name!, queue: metadata.labels?.[queueLabel] };
}

/** Returns what a Job waits for that is suspended; undefined if it is not. */
export function waitOf(job: ApiObject): string | undefined {
  const hold = holdOf(job);
  if (hold === undefined) return undefined;
  return hold.queue === undefined
    ? `Job ${hold.job} is suspended, and no queue that it names resumes it`
    : `Job ${hold.job} waits in queue "${hold.queue}"`;
}

/** Returns why the pods of a Job are deleted, if it is because the Job was suspended. */
export function whyDeleted(job: ApiObject): string | undefined {
  const hold = holdOf(job);
  if (hold === undefined) return undefined;
  const { job: name, queue } = hold;
  return queue === undefined ? `Job ${name} was suspended` : `queue "${queue}" has suspended Job ${name}`;
}

/** Returns a function that reports when a Job of a running job is suspended: its hosts end, and are back when it is resumed. */
export function reportHolds(report: Report): (job: ApiObject) => void {
  const held = new Set<string>();
  return (job) => {
    const name = job.metadata.name!;
    const reason = waitOf(job);
    if (reason === undefined) held.delete(name);
    if (reason === undefined || held.has(name)) return;
    held.add(name);
    report({ kind: "pending", reason });
  };
}

/** The newest text about a Job. */
interface Known {
  readonly text: string;
  /** The time at which the object was made that tells it, in ms since 1970. */
  readonly madeAt: number;
}

/** Follows the Jobs of a run that wait, and the reasons for it. */
export class HeldJobs {
  readonly #waits = new Map<string, Known>();
  /** The last words of Kueue about each Job. */
  readonly #words = new Map<string, Known>();
  readonly #names: readonly string[];
  readonly #changed: () => void;

  /**
   * @param names the names of the Jobs
   * @param changed called when another Job waits, or for another reason
   */
  constructor(names: readonly string[], changed: () => void) {
    this.#names = names;
    this.#changed = changed;
  }

  /** Returns what a Job waits for; undefined if it does not wait. */
  reasonOf(job: string): string | undefined {
    const wait = this.#waits.get(job);
    const words = this.#words.get(job);
    // An event can be about a Job of the same name that was there before.
    const isOwn = wait !== undefined && words !== undefined && words.madeAt >= wait.madeAt;
    return isOwn ? `${wait.text}: ${words.text}` : wait?.text;
  }

  /**
   * Follows the Jobs, and what their queue says, until `signal` is aborted. A program that may not watch them knows less.
   * @param hasQueue whether a Job has a queue
   */
  async follow(api: KubernetesApi, labelSelector: string, hasQueue: boolean, signal: AbortSignal): Promise<void> {
    // Kueue describes each Job by an object of its own, and tells by its events why it waits.
    const fieldSelector = "involvedObject.kind=Workload,type=Warning";
    await Promise.all([
      seeEach(observe(api, "Job", { labelSelector }, signal), (job, isGone) => this.#see(job, isGone)),
      ...(hasQueue
        ? [seeEach(observe(api, "Event", { fieldSelector }, signal), (event) => this.#hear(event as EventObject))]
        : []),
    ]);
  }

  #see(job: ApiObject, isGone: boolean): void {
    const name = job.metadata.name!;
    const text = isGone ? undefined : waitOf(job);
    if (text === this.#waits.get(name)?.text) return;
    if (text === undefined) this.#waits.delete(name);
    else this.#waits.set(name, { text, madeAt: timeOf(job) });
    this.#changed();
  }

  #hear(event: EventObject): void {
    const { reason, message: text = "", involvedObject } = event;
    const job = this.#names.find((name) => isWorkloadOf(name, involvedObject?.name ?? ""));
    if (job === undefined || reason !== "Pending" || text === "" || text === this.#words.get(job)?.text) return;
    this.#words.set(job, { text, madeAt: timeOf(event) });
    this.#changed();
  }
}

/** The length at which some versions of Kueue cut the names of workloads, without their hash. */
const cutLength = 57;

/** Returns whether a workload of Kueue is that of a Job. Its name is `job-<name>-<hash>`. */
function isWorkloadOf(job: string, workload: string): boolean {
  const [, name = ""] = /^(.+)-[0-9a-f]{5}$/.exec(workload) ?? [];
  const full = `job-${job}`;
  return name === full || (name.length === cutLength && full.startsWith(name));
}

/** Returns the time at which an object was made, in ms since 1970. */
function timeOf({ metadata }: ApiObject): number {
  return Date.parse(metadata.creationTimestamp ?? "") || 0;
}
