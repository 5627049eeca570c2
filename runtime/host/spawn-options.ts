/** What `ProcMesh.with` can be told of the actors that are spawned there, checked before anything is spawned. */
import type { ActorPlan } from "../proc/actor-host.js";
import { planRestart, type RestartOptions } from "../supervise/restart.js";

export interface SpawnOptions {
  /** Whether actors that fail, and those whose processes end, are made again. */
  readonly restart?: RestartOptions;
}

/** @throws TypeError, RangeError for options that make no sense */
export function planActors({ restart }: SpawnOptions): ActorPlan {
  return restart === undefined ? {} : { restart: planRestart(restart, "spawn actors") };
}
