/** What `ProcMesh.with` can be told of the actors that are spawned there, checked before anything is spawned. */
import type { WatchLimits } from "../../actor/cell/watchdog.js";
import type { SupervisionPlan } from "../../proc/mesh/proc-group.js";
import { checkOptionNames, describeValue } from "../../shape/index.js";
import { planRestart, type RestartOptions } from "../../supervise/restart-policy.js";

export interface SpawnOptions {
  /** Whether actors that fail, and those whose processes end, are made again. */
  readonly restart?: RestartOptions;
  /** For how long handlers may run. */
  readonly watchdog?: WatchdogOptions;
}

/** In milliseconds. For an endpoint with a `@timeout`, that stands for `warn`, and `fail` is as much later as here. */
export interface WatchdogOptions {
  /** A handler that has been running for so long is warned of, with what it waits for. */
  readonly warn: number;
  /**
   * The actor of a handler that has been running for so long fails; where the process was stopped or busy, as much later than the warning
   * as is said here. Absent: never.
   */
  readonly fail?: number;
}

/** @throws TypeError, RangeError for options that make no sense */
export function planSupervision(options: SpawnOptions): SupervisionPlan {
  checkOptionNames("cannot spawn actors", options, ["restart", "watchdog"]);
  const { restart, watchdog } = options;
  return {
    ...(restart === undefined ? {} : { restart: planRestart(restart, "spawn actors") }),
    ...(watchdog === undefined ? {} : { watch: planWatchdog(watchdog) }),
  };
}

function planWatchdog(options: WatchdogOptions): WatchLimits {
  checkOptionNames("cannot spawn actors: invalid watchdog", options, ["warn", "fail"]);
  const { warn, fail = Number.POSITIVE_INFINITY } = options;
  if (typeof warn !== "number" || !(warn > 0)) throw watchdogError("warn in milliseconds, more than 0", warn);
  if (typeof fail !== "number" || !(fail >= warn)) throw watchdogError(`fail in milliseconds, at least ${warn}`, fail);
  return { warn, grace: fail - warn };
}

function watchdogError(expected: string, got: unknown): RangeError {
  return new RangeError(`cannot spawn actors: expected watchdog.${expected}, got ${describeValue(got)}`);
}
