/** Tells of hosts that will end, that have ended, and that are back. */
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import type { Report } from "../../provider.js";
import { currentPods, type PodFacts, type PodState } from "./pod-state.js";

/** A host that was up. */
interface KnownHost {
  readonly pod: PodFacts;
  readonly state: "up" | "warned" | "lost";
  /** Why it is deleted, if somebody deletes it. */
  readonly why?: Promise<string | undefined>;
  /** Why the cluster ends it, as it was told before; undefined if it was not, or is just deleted. */
  readonly told?: string | undefined;
}

export interface PodLossesOptions {
  /** Returns why the pods of a mesh are deleted, if the job knows. It rejects if the API server does not answer. */
  readonly whyDeleted?: ((mesh: string) => Promise<string | undefined>) | undefined;
  /** Returns why there is no host at a place any more; undefined if there is to be one. */
  readonly whyGone?: (place: HostPlace) => string | undefined;
}

export class PodLosses {
  readonly #report: Report;
  readonly #options: PodLossesOptions;
  readonly #hosts = new Map<string, KnownHost>();

  /** The events that were told, one after the other: some wait for an answer of the API server. */
  #telling: Promise<void> = Promise.resolve();

  constructor(report: Report, options: PodLossesOptions = {}) {
    this.#report = report;
    this.#options = options;
  }

  see(pods: PodState): void {
    const current = currentPods(pods);
    for (const [key, known] of this.#hosts) {
      // The pod of a host that is lost can be gone, and its successor not there yet.
      this.#follow(key, known, pods.get(known.pod.uid), current.get(key));
    }
    for (const [key, pod] of current)
      if (pod.isReady && !this.#hosts.has(key)) this.#hosts.set(key, { pod, state: "up" });
  }

  #follow(key: string, known: KnownHost, now: PodFacts | undefined, current: PodFacts | undefined): void {
    const { pod, state } = known;
    const { place, name } = pod;
    const ending = now?.isEnding && now.trouble?.kind !== "deleted" ? now.trouble?.text : undefined;
    const told = ending ?? known.told;
    const isDeleted = now === undefined ? told === undefined : now.trouble?.kind === "deleted";
    const why =
      known.why ??
      (isDeleted && state !== "lost" ? this.#options.whyDeleted?.(place.mesh).catch(() => undefined) : undefined);
    let next = state;
    const whyGone = this.#options.whyGone?.(place);
    const given = whyGone === undefined ? "" : `: ${whyGone}`;
    if (next === "up" && now?.isEnding && !now.isOver) {
      next = "warned";
      const what = `${now.trouble?.text ?? "is being ended"}${given}`;
      this.#tell("warned", place, `pod ${name} of ${formatPlace(place)} ${what}`, why);
    }
    const isGone = now === undefined || now.isOver || now.startedAt > pod.startedAt;
    if (next !== "lost" && isGone) {
      next = "lost";
      const what = now === undefined ? (told ?? "is gone") : (now.trouble?.text ?? restartOf(now));
      this.#tell("host-lost", place, `pod ${name} of ${formatPlace(place)} ${what}${given}`, why);
    }
    // A mesh that grows again gets new hosts, which replace nothing.
    if (next === "lost" && whyGone !== undefined) {
      this.#hosts.delete(key);
      return;
    }
    if (next === "lost" && current?.isReady && isOther(current, pod)) {
      this.#hosts.set(key, { pod: current, state: "up" });
      this.#tell("host-replaced", place, `pod ${current.name} is Ready at ${current.ip}`);
      return;
    }
    this.#hosts.set(key, { pod, state: next, told, ...(why === undefined ? {} : { why }) });
  }

  #tell(
    kind: "host-lost" | "host-replaced" | "warned",
    { mesh, rank }: HostPlace,
    what: string,
    why: Promise<string | undefined> = Promise.resolve(undefined),
  ): void {
    this.#telling = this.#telling.then(async () => {
      const known = await why;
      this.#report({ kind, mesh, rank, reason: known === undefined ? what : `${what}, because ${known}` });
    });
  }
}

function restartOf({ lastEnd }: PodFacts): string {
  return lastEnd === undefined ? "was started again" : `was started again, because ${lastEnd}`;
}

/** Returns whether a pod is another incarnation of a host: another pod, or another start of its container. */
function isOther(pod: PodFacts, known: PodFacts): boolean {
  return pod.uid !== known.uid || pod.startedAt > known.startedAt;
}
