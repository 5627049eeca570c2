/** Waits until the pods of all ranks are hosts, tells what keeps them from it, and gives up where Kubernetes cannot help any more. */
import { JobStartError } from "../../errors.js";
import { formatPlace, type HostPlace, hostPlaces } from "../../mesh-spec.js";
import type { Report } from "../../provider.js";
import { isProvisioned, type KubernetesSpec } from "../kubernetes-spec.js";
import { meshObjectName } from "../manifest/layout.js";
import { noRank } from "./pod-sources.js";
import { currentPods, doublePods, type PodFacts, type PodState } from "./pod-state.js";

export interface HostWaitOptions {
  /** Returns what a Job waits for that makes no pods. */
  readonly heldBy?: ((job: string) => string | undefined) | undefined;
  /** The places of the hosts, when a job that runs gets more of them. Default: all of the job. */
  readonly places?: readonly HostPlace[];
  /** Makes the error of a host that cannot come up. Default: JobStartError. */
  readonly errorOf?: (reason: string) => Error;
}

export class HostWait {
  readonly #spec: KubernetesSpec;
  readonly #isAgain: boolean;
  readonly #places: readonly HostPlace[];
  readonly #report: Report;
  readonly #heldBy: (job: string) => string | undefined;
  readonly #errorOf: (reason: string) => Error;
  #lacksPods = false;
  /** The last report about each host, so that none is made twice. */
  readonly #told = new Map<string, string>();
  /** What keeps each missing host from being up, by the host. */
  #missing: ReadonlyMap<string, string> = new Map();
  #state: PodState | undefined;
  /** Why this program cannot read why a pod was not made; undefined if it can. */
  #denied: string | undefined;

  /** @param isAgain whether the hosts may have been up before: a pod that has failed is replaced then, as while the job runs */
  constructor(spec: KubernetesSpec, isAgain: boolean, report: Report, options: HostWaitOptions = {}) {
    this.#spec = spec;
    this.#isAgain = isAgain;
    this.#places = options.places ?? hostPlaces(spec.meshes);
    this.#errorOf = options.errorOf ?? ((reason) => new JobStartError(spec.name, reason));
    this.#report = report;
    this.#heldBy = options.heldBy ?? (() => undefined);
  }

  /** Returns what keeps the missing hosts from being up, in one text; empty if nothing is known. */
  get reason(): string {
    return [...new Set(this.#missing.values())].slice(0, 5).join("; ");
  }

  /** Whether there is a host that has no pod. */
  get lacksPods(): boolean {
    return this.#lacksPods;
  }

  /**
   * Looks at the pods, and reports what is new.
   * @returns the pods in the order of the hosts when all are Ready
   * @throws JobStartError, or that of `errorOf`, if a pod cannot become a host at the first start, or one that a selector finds has no rank
   */
  look(state: PodState): readonly PodFacts[] | undefined {
    this.#state = state;
    this.#checkSelected(state);
    const current = currentPods(state);
    const missing = new Map<string, string>();
    for (const place of this.#places) {
      const key = formatPlace(place);
      const pod = current.get(key);
      if (pod?.isReady) this.#tell(place, "running", `pod ${pod.name} is Ready at ${pod.ip}`);
      else missing.set(key, this.#describe(place, pod));
    }
    this.#missing = missing;
    this.#lacksPods = [...missing.keys()].some((key) => !current.has(key));
    return missing.size > 0 ? undefined : this.#places.map((place) => current.get(formatPlace(place))!);
  }

  /** Tells what is new of the hosts without a pod, after a Job waits for something else. */
  lookAgain(): void {
    if (this.#state === undefined) return;
    const current = currentPods(this.#state);
    const without = this.#places.filter((place) => !current.has(formatPlace(place)));
    const described = without.map((place) => [formatPlace(place), this.#describe(place, undefined)] as const);
    this.#missing = new Map([...this.#missing, ...described]);
  }

  /** Says of pods that are not there that this program may not read why. @param reason of the API server */
  denied(reason: string): void {
    this.#denied = reason;
    this.lookAgain();
  }

  /** Tells what keeps another pod from taking the place of a host that was lost. @param pod the other pod, if there is one */
  explain(place: HostPlace, pod: PodFacts | undefined): void {
    this.#describe(place, pod);
  }

  #describe(place: HostPlace, pod: PodFacts | undefined): string {
    if (pod === undefined) {
      const held = this.#heldBy(meshObjectName(this.#spec.name, place.mesh));
      const unknown = this.#denied === undefined ? "" : `, and why is not known: ${this.#denied}`;
      return this.#tell(place, "pending", held ?? `there is no pod for ${formatPlace(place)} yet${unknown}`);
    }
    const { name, trouble, isRunning, node } = pod;
    const at = node === undefined ? "" : ` on node ${node}`;
    if (trouble?.isFinal && !this.#isAgain) {
      const advice = trouble.advice === undefined ? "" : `; ${trouble.advice}`;
      throw this.#errorOf(`pod ${name} of ${formatPlace(place)}${at} ${trouble.text}${advice}`);
    }
    const isWaiting = trouble?.kind === "unschedulable" || trouble?.kind === "waiting";
    const what = trouble?.text ?? (isRunning ? "runs, and its daemon does not listen yet" : "is being started");
    return this.#tell(place, isWaiting ? "pending" : "starting", `pod ${name}${at} ${what}`);
  }

  #tell({ mesh, rank }: HostPlace, kind: "pending" | "running" | "starting", reason: string): string {
    const key = formatPlace({ mesh, rank });
    const text = `${kind} ${reason}`;
    if (this.#told.get(key) === text) return reason;
    this.#told.set(key, text);
    this.#report({ kind, mesh, rank, reason });
    return reason;
  }

  /** Checks pods that the job has not made. @throws JobStartError, or that of `errorOf` */
  #checkSelected(state: PodState): void {
    const { namespace, meshes } = this.#spec;
    for (const [mesh, spec] of Object.entries(meshes)) {
      if (isProvisioned(spec)) continue;
      const fail = (reason: string): never => {
        throw this.#errorOf(reason);
      };
      const living = [...state.values()].filter((pod) => pod.place.mesh === mesh && !pod.isOver && !pod.isEnding);
      const found = `the selector "${spec.selector}" of mesh "${mesh}"`;
      if (living.length === 0)
        fail(`${found} finds no pod in namespace "${namespace}"; look with kubectl get pods --show-labels`);
      const { hosts } = spec;
      const unknown = living.find(({ place }) => place.rank === noRank);
      if (unknown !== undefined) {
        fail(
          `pod ${unknown.name}, which ${found} finds, has no rank: ${describeRule(spec.rank)}; name what tells the rank with the option rank`,
        );
      }
      const beyond = living.find(({ place }) => place.rank >= hosts);
      if (beyond !== undefined) {
        fail(
          `pod ${beyond.name}, which ${found} finds, has rank ${beyond.place.rank}, and the mesh has hosts: ${hosts}; raise hosts, or let the selector find fewer pods`,
        );
      }
      const [pair] = doublePods(new Map(living.map((pod) => [pod.uid, pod])));
      if (pair !== undefined) {
        fail(
          `pods ${pair[0].name} and ${pair[1].name}, which ${found} finds, both have rank ${pair[0].place.rank}; delete one of them, or give it another rank`,
        );
      }
    }
  }
}

function describeRule(rule: { readonly label: string } | "job" | "statefulset" | null): string {
  if (rule === "job") return "it has no completion index of an Indexed Job";
  if (rule === "statefulset") return "it is no pod of a StatefulSet";
  if (rule === null) return "it belongs neither to an Indexed Job nor to a StatefulSet";
  return `its label "${rule.label}" is no whole number`;
}
