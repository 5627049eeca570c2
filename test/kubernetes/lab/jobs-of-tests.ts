/** Jobs of tests on Kubernetes, what they tell, and their pods. */
import { CoreV1Api, type V1Pod } from "@kubernetes/client-node";
import { type JobEvent, KubernetesJob, type KubernetesJobOptions } from "viceroy/job";
import { newCache } from "../../job/job-program.js";
import { until } from "../../proc/until.js";
import type { LabOfTests } from "./on-kubernetes.js";

/** The annotation with the rank of a pod. */
const rankKey = "batch.kubernetes.io/job-completion-index";

/** The code that jobs bring to pods which do not see the files of this machine. Most packages are of other projects of the repository. */
export const broughtCode = { exclude: ["/.ci", "/bench", "/docs", "/examples"] };

/** Time in ms for a pod to be replaced, also after the delay of the Job controller. */
export const replacementMs = 150_000;

export class JobsOfTests {
  readonly #lab: () => LabOfTests;
  readonly #made: { kill(): Promise<void> }[] = [];

  constructor(lab: () => LabOfTests) {
    this.#lab = lab;
  }

  /** Makes a job that is killed by `killAll`. */
  make<M extends string>(
    options: Pick<KubernetesJobOptions<M>, "namespace" | "meshes"> & Partial<KubernetesJobOptions<M>>,
  ): KubernetesJob<M> {
    const { kubeconfig } = this.#lab();
    const job = new KubernetesJob<M>({
      kubeconfig,
      cache: newCache(),
      progress: "silent",
      sync: broughtCode,
      ...options,
    });
    this.#made.push(job);
    return job;
  }

  async killAll(): Promise<void> {
    await Promise.all(this.#made.splice(0).map((job) => job.kill()));
  }

  /** Returns the error with which a job does not start. */
  async errorOf(job: { state(): Promise<unknown> }): Promise<Error> {
    const error = await job.state().then(
      () => new Error("the job has started"),
      (thrown: unknown) => thrown as Error,
    );
    return error;
  }

  /** Returns the pods of a namespace. */
  async pods(namespace: string): Promise<V1Pod[]> {
    const { items } = await this.#lab().config.makeApiClient(CoreV1Api).listNamespacedPod({ namespace });
    return items;
  }

  /** Returns the pod of a rank that is there, and is not being deleted. */
  async podOf(namespace: string, mesh: string, rank: number): Promise<V1Pod> {
    const isIt = ({ metadata, status }: V1Pod) =>
      metadata!.labels?.["viceroy/mesh"] === mesh &&
      metadata!.annotations?.[rankKey] === String(rank) &&
      metadata!.deletionTimestamp === undefined &&
      status?.phase !== "Failed";
    let found: V1Pod | undefined;
    await until(async () => {
      found = (await this.pods(namespace)).find(isIt);
      return found !== undefined;
    });
    return found!;
  }
}

/** The events of a job from now on. */
export class EventsOfJob {
  readonly all: JobEvent[] = [];

  constructor(job: { watch(): AsyncIterable<JobEvent> }) {
    const begin = Date.now();
    void (async () => {
      // The first event is the last one of the time before.
      for await (const event of job.watch()) if (event.at >= begin) this.all.push(event);
    })();
  }

  /** Returns the reasons of the events of a kind, in their order. */
  reasons(kind: JobEvent["kind"], place?: { readonly mesh: string; readonly rank: number }): string[] {
    const isOf = (event: JobEvent) => place === undefined || (event.mesh === place.mesh && event.rank === place.rank);
    return this.all.filter((event) => event.kind === kind && isOf(event)).map(({ reason }) => reason);
  }

  /** Waits for an event whose reason matches. */
  async saw(kind: JobEvent["kind"], reason: RegExp, limit = replacementMs): Promise<void> {
    const isThere = () => this.reasons(kind).some((text) => reason.test(text));
    await until(isThere, limit).catch(() => {
      const known = this.all.map((event) => `${event.kind} ${event.mesh}[${event.rank}] ${event.reason}`);
      throw new Error(`no event ${kind} matches ${reason}; the events:\n${known.join("\n")}`);
    });
  }
}
