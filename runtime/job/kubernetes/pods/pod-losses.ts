/** Tells of hosts that will end, that have ended, and that are back. */
import { formatPlace, type HostPlace } from "../../mesh-spec.js";
import type { Report } from "../../provider.js";
import { currentPods, type PodFacts, type PodState } from "./pod-state.js";
import { deletedText } from "./pod-trouble.js";

/** A host that was up. */
interface KnownHost {
  readonly pod: PodFacts;
  readonly state: "up" | "warned" | "lost";
  /** Why the cluster ends it, as it was told before; undefined if it was not, or is just deleted. */
  readonly why?: string | undefined;
}

export class PodLosses {
  readonly #report: Report;
  readonly #hosts = new Map<string, KnownHost>();

  constructor(report: Report) {
    this.#report = report;
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

  #follow(
    key: string,
    { pod, state, why: earlier }: KnownHost,
    now: PodFacts | undefined,
    current: PodFacts | undefined,
  ): void {
    const { place, name } = pod;
    let next = state;
    const ending = now?.isEnding && now.trouble?.text !== deletedText ? now.trouble?.text : undefined;
    const known = ending ?? earlier;
    if (next === "up" && now?.isEnding && !now.isOver) {
      next = "warned";
      this.#tell("warned", place, `pod ${name} of ${formatPlace(place)} ${now.trouble?.text ?? "is being ended"}`);
    }
    const isGone = now === undefined || now.isOver || now.startedAt > pod.startedAt;
    if (next !== "lost" && isGone) {
      next = "lost";
      const why = now === undefined ? (known ?? "is gone") : (now.trouble?.text ?? restartOf(now));
      this.#tell("host-lost", place, `pod ${name} of ${formatPlace(place)} ${why}`);
    }
    if (next === "lost" && current?.isReady && isOther(current, pod)) {
      this.#hosts.set(key, { pod: current, state: "up" });
      this.#tell("host-replaced", place, `pod ${current.name} is Ready at ${current.ip}`);
      return;
    }
    this.#hosts.set(key, { pod, state: next, why: known });
  }

  #tell(kind: "host-lost" | "host-replaced" | "warned", { mesh, rank }: HostPlace, reason: string): void {
    this.#report({ kind, mesh, rank, reason });
  }
}

function restartOf({ lastEnd }: PodFacts): string {
  return lastEnd === undefined ? "was started again" : `was started again, because ${lastEnd}`;
}

/** Returns whether a pod is another incarnation of a host: another pod, or another start of its container. */
function isOther(pod: PodFacts, known: PodFacts): boolean {
  return pod.uid !== known.uid || pod.startedAt > known.startedAt;
}
