/** The controller of jobs: it keeps one pod for each index that has not been completed, and ends jobs. */
import { deleteObject } from "../api-server/deletion.js";
import { type ApiObject, resourceOf } from "../api-server/resources.js";
import { StatusError } from "../api-server/status-error.js";
import { type Store, timestamp } from "../api-server/store.js";
import { report } from "./events.js";
import { release } from "./garbage-collector.js";
import { createPod, failureAction, indexOf, isControlledBy, tracking } from "./job-pods.js";

const component = "job-controller";
const jobs = () => resourceOf("jobs");
const pods = () => resourceOf("pods");

/** What the controller remembers of a job: failures by index, by which it decides whether an index gets another pod. */
interface Memory {
  readonly failures: Map<number, number>;
  readonly failedIndexes: Set<number>;
  /** The pods that have been counted, until their removal has been seen. */
  readonly counted: Set<string>;
  /** Why the whole job fails, which is decided once: its last pods may end later. */
  failure?: [string, string];
  /** When the next pods may be created, after failures; in milliseconds. */
  notBefore: number;
}

export class JobController {
  readonly #store: Store;
  readonly #memories = new Map<string, Memory>();
  readonly #backoff: number;

  /** @param backoff how long a failed pod delays its replacement, in milliseconds; it doubles with each further failure */
  constructor(store: Store, backoff = 200) {
    this.#store = store;
    this.#backoff = backoff;
  }

  /** @returns in how many milliseconds the controller wants to run again, or undefined */
  run(): number | undefined {
    const all = this.#store.list(pods());
    const living = this.#store.list(jobs());
    for (const pod of all.filter(({ metadata }) => metadata.finalizers?.includes(tracking))) {
      // Nobody counts the pods of a job that is gone.
      if (!living.some((job) => isControlledBy(pod, job)))
        release(this.#store, { resource: pods(), object: pod }, tracking);
    }
    const delays = living.map((job) =>
      this.#reconcile(
        job,
        all.filter((pod) => isControlledBy(pod, job)),
      ),
    );
    const wanted = delays.filter((delay) => delay !== undefined);
    return wanted.length === 0 ? undefined : Math.min(...wanted);
  }

  #reconcile(job: ApiObject, all: readonly ApiObject[]): number | undefined {
    const { spec, status, metadata } = job;
    const finished = conditionOf(job, "Complete") ?? conditionOf(job, "Failed");
    const memory = this.#memoryOf(metadata.uid);
    const counts = { succeeded: status.succeeded ?? 0, failed: status.failed ?? 0 };
    const completed = parseIndexes(status.completedIndexes ?? "");
    // A job that has got smaller forgets what became of the indexes beyond.
    for (const known of [completed, memory.failedIndexes, memory.failures]) {
      for (const index of [...known.keys()]) if (index >= spec.completions) known.delete(index);
    }
    const counted = this.#count(job, all, memory, completed, counts);
    if (counted !== undefined) memory.failure ??= counted;
    let { failure } = memory;
    if (finished) return this.#expire(job, finished);
    const active = all.filter((pod) => !hasEnded(pod));
    const living = active.filter((pod) => pod.metadata.deletionTimestamp === undefined);
    if (metadata.deletionTimestamp !== undefined) return undefined;
    const startTime = status.startTime ?? (spec.suspend ? undefined : timestamp());
    const deadline =
      spec.activeDeadlineSeconds === undefined ? undefined : Date.parse(startTime) + spec.activeDeadlineSeconds * 1000;
    if (deadline !== undefined && Date.now() >= deadline)
      failure ??= ["DeadlineExceeded", "Job was active longer than specified deadline"];
    if (counts.failed > spec.backoffLimit)
      failure ??= ["BackoffLimitExceeded", "Job has reached the specified backoff limit"];
    const missing = indexes(spec.completions).filter(
      (index) => !completed.has(index) && !memory.failedIndexes.has(index),
    );
    if (missing.length === 0 && memory.failedIndexes.size > 0) failure ??= ["FailedIndexes", "Job has failed indexes"];
    const ends = failure !== undefined || missing.length === 0;
    const surplus = living.filter((pod) => ends || spec.suspend || indexOf(pod) >= spec.completions);
    for (const pod of surplus) deleteObject(this.#store, pods(), pod, {});
    // A job is over when its last pod is, too.
    const over = ends && active.length === 0;
    const condition = !over ? [] : failure === undefined ? ["Complete"] : ["Failed", ...failure];
    this.#write(
      job,
      { ...counts, startTime, completed, memory, active, living: living.filter((pod) => !surplus.includes(pod)) },
      condition,
    );
    if (!ends && !spec.suspend) this.#create(job, missing, active, memory);
    const next = [deadline, memory.notBefore].filter((time) => time !== undefined && time > Date.now()) as number[];
    return next.length === 0 ? undefined : Math.min(...next) - Date.now();
  }

  /** Counts the pods that have ended. @returns the reason and message of a failure of the whole job */
  #count(
    job: ApiObject,
    all: readonly ApiObject[],
    memory: Memory,
    completed: Set<number>,
    counts: { succeeded: number; failed: number },
  ): [string, string] | undefined {
    let failure: [string, string] | undefined;
    for (const pod of all.filter(
      (candidate) => isOver(candidate) && candidate.metadata.finalizers?.includes(tracking),
    )) {
      if (!memory.counted.has(pod.metadata.uid)) {
        memory.counted.add(pod.metadata.uid);
        const index = indexOf(pod);
        const action = index >= job["spec"].completions ? "Ignore" : failureAction(job, pod);
        if (index < job["spec"].completions && pod["status"].phase === "Succeeded") {
          counts.succeeded++;
          completed.add(index);
        } else if (action === "FailJob") {
          counts.failed++;
          failure = [
            "PodFailurePolicy",
            `Container failed of pod ${pod.metadata.namespace}/${pod.metadata.name} matching FailJob rule`,
          ];
        } else if (action !== "Ignore") {
          counts.failed++;
          const failures = (memory.failures.get(index) ?? 0) + 1;
          memory.failures.set(index, failures);
          if (action === "FailIndex" || failures > (job["spec"].backoffLimitPerIndex ?? Number.POSITIVE_INFINITY))
            memory.failedIndexes.add(index);
          memory.notBefore = Date.now() + this.#backoff * 2 ** Math.min(counts.failed - 1, 5);
        }
        this.#store.change(jobs(), job, (object) => {
          object["status"] = { ...object["status"], ...counts, completedIndexes: formatIndexes(completed) };
        });
      }
      release(this.#store, { resource: pods(), object: pod }, tracking);
    }
    return failure;
  }

  #create(job: ApiObject, missing: readonly number[], active: readonly ApiObject[], memory: Memory): void {
    const { spec } = job;
    if (memory.notBefore > Date.now()) return;
    const failed = spec.podReplacementPolicy === "Failed";
    const taking = active.filter((pod) => failed || pod.metadata.deletionTimestamp === undefined);
    const taken = new Set(taking.map(indexOf));
    for (const index of missing
      .filter((candidate) => !taken.has(candidate))
      .slice(0, Math.max(0, spec.parallelism - taking.length))) {
      try {
        const pod = createPod(this.#store, job, index);
        report(this.#store, job, "Normal", "SuccessfulCreate", `Created pod: ${pod.metadata.name}`, component);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        report(this.#store, job, "Warning", "FailedCreate", `Error creating: ${error.message}`, component);
        memory.notBefore = Date.now() + 1_000;
        return;
      }
    }
  }

  #write(
    job: ApiObject,
    now: {
      succeeded: number;
      failed: number;
      startTime: string | undefined;
      completed: Set<number>;
      memory: Memory;
      active: readonly ApiObject[];
      living: readonly ApiObject[];
    },
    [type, reason, message]: readonly (string | undefined)[],
  ): void {
    const { succeeded, failed, startTime, completed, memory, active, living } = now;
    const suspended = {
      type: "Suspended",
      status: job["spec"].suspend ? "True" : "False",
      reason: job["spec"].suspend ? "JobSuspended" : "JobResumed",
    };
    const known = conditionOf(job, "Suspended", "any");
    const conditions =
      job["spec"].suspend || known
        ? [known?.status === suspended.status ? known : { ...suspended, lastTransitionTime: timestamp() }]
        : [];
    if (type !== undefined) {
      const why = reason === undefined ? {} : { reason, message };
      conditions.push({ type, status: "True", ...why, lastTransitionTime: timestamp() } as never);
      report(
        this.#store,
        job,
        type === "Complete" ? "Normal" : "Warning",
        reason ?? "Completed",
        message ?? "Job completed",
        component,
      );
    }
    const status = {
      ...(startTime === undefined ? {} : { startTime }),
      ...(type === "Complete" ? { completionTime: timestamp() } : {}),
      ...(conditions.length === 0 ? {} : { conditions }),
      active: living.length,
      terminating: active.filter((pod) => pod.metadata.deletionTimestamp !== undefined).length,
      ready: living.filter(isReady).length,
      succeeded,
      failed,
      ...(completed.size === 0 ? {} : { completedIndexes: formatIndexes(completed) }),
      ...(memory.failedIndexes.size === 0 ? {} : { failedIndexes: formatIndexes(memory.failedIndexes) }),
    };
    this.#store.change(jobs(), job, (object) => {
      object["status"] = status;
    });
  }

  /** Deletes a finished job after its time to live. @returns the milliseconds until then */
  #expire(job: ApiObject, { lastTransitionTime }: { lastTransitionTime: string }): number | undefined {
    const seconds = job["spec"].ttlSecondsAfterFinished;
    if (seconds === undefined || job.metadata.deletionTimestamp !== undefined) return undefined;
    const remaining = Date.parse(lastTransitionTime) + seconds * 1000 - Date.now();
    if (remaining > 0) return remaining;
    deleteObject(this.#store, jobs(), this.#store.get(jobs(), job.metadata.namespace, job.metadata.name), {});
    return undefined;
  }

  #memoryOf(uid: string): Memory {
    let memory = this.#memories.get(uid);
    if (memory === undefined) {
      memory = { failures: new Map(), failedIndexes: new Set(), counted: new Set(), notBefore: 0 };
      this.#memories.set(uid, memory);
    }
    return memory;
  }
}

const hasEnded = ({ status }: ApiObject) => ["Succeeded", "Failed"].includes(status?.phase);

/** A pod that is deleted before it could end counts as failed once its kubelet has let go of it. */
function isOver(pod: ApiObject): boolean {
  return (
    hasEnded(pod) ||
    (pod.metadata.deletionTimestamp !== undefined && (pod.metadata.deletionGracePeriodSeconds ?? 0) === 0)
  );
}

function isReady({ status }: ApiObject): boolean {
  return (status?.conditions ?? []).some(
    (condition: { type: string; status: string }) => condition.type === "Ready" && condition.status === "True",
  );
}

/** @param wanted the status of the condition, or "any" */
function conditionOf({ status }: ApiObject, type: string, wanted = "True") {
  const conditions = (status?.conditions ?? []) as { type: string; status: string; lastTransitionTime: string }[];
  return conditions.find((condition) => condition.type === type && (wanted === "any" || condition.status === wanted));
}

const indexes = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Reads indexes as a job's status writes them, such as `0-2,5`. */
function parseIndexes(text: string): Set<number> {
  const ranges = text
    .split(",")
    .filter((range) => range !== "")
    .map((range) => range.split("-").map(Number));
  return new Set(ranges.flatMap(([from, to = from]) => indexes(to! - from! + 1).map((i) => from! + i)));
}

function formatIndexes(set: ReadonlySet<number>): string {
  const ranges: [number, number][] = [];
  for (const index of [...set].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
}
