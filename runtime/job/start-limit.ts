/** The time limits for hosts that start: that of the job, and those of meshes that have one of their own. */
import { MAX_TIMER_MS } from "../link/clock.js";
import type { Report, StartTimeout } from "./provider.js";

/** The limit of some meshes. */
export interface MeshLimit extends StartTimeout {
  readonly meshes: readonly string[];
}

export interface StartLimit {
  /** Aborted when the time of hosts that are missing is over. */
  readonly signal: AbortSignal;
  /** Passes events on, and notes whether the hosts wait. */
  readonly report: Report;
  /** The limit that has passed; undefined before. */
  readonly passed: MeshLimit | undefined;
  end(): void;
}

/** Returns the limits of the meshes of a job. Meshes with the same limit share one. @param ms `hostTimeout` of the job */
export function meshLimits(
  meshes: readonly string[],
  own: Readonly<Record<string, StartTimeout>> = {},
  ms: number,
): MeshLimit[] {
  const others = meshes.filter((mesh) => own[mesh] === undefined);
  const common = others.length === 0 ? [] : [{ ms, option: "hostTimeout", meshes: others }];
  return [...common, ...meshes.flatMap((mesh) => (own[mesh] === undefined ? [] : [{ ...own[mesh], meshes: [mesh] }]))];
}

/**
 * Starts the time limits. The time in the queue of a scheduler does not count.
 * @param isMissing returns whether a mesh has hosts that are not up. A limit of meshes that are all up does not count while others start
 * @param report gets the events
 */
export function startLimit(
  limits: readonly MeshLimit[],
  isMissing: (mesh: string) => boolean,
  report: Report,
): StartLimit {
  const late = new AbortController();
  let passed: MeshLimit | undefined;
  const timers = new Map<MeshLimit, NodeJS.Timeout>();
  const stop = (limit: MeshLimit) => {
    clearTimeout(timers.get(limit));
    timers.delete(limit);
  };
  const start = (limit: MeshLimit) => {
    if (timers.has(limit)) return;
    const expire = () => {
      timers.delete(limit);
      const starting = limits.filter(({ meshes }) => meshes.some(isMissing));
      if (starting.length > 0 && !starting.includes(limit)) return;
      passed ??= limit;
      late.abort();
    };
    timers.set(limit, setTimeout(expire, Math.min(limit.ms, MAX_TIMER_MS)));
  };
  for (const limit of limits) start(limit);
  return {
    signal: late.signal,
    get passed() {
      return passed;
    },
    report: (event) => {
      report(event);
      const { kind, mesh } = event;
      const concerned = limits.filter(({ meshes }) => mesh === undefined || meshes.includes(mesh));
      for (const limit of concerned) {
        if (kind === "pending") stop(limit);
        else start(limit);
      }
    },
    end: () => {
      for (const limit of limits) stop(limit);
    },
  };
}
