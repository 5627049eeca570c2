/** The options of `ProcMesh.with`, and their checks before anything is spawned. */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { WatchLimits } from "../../actor/reference/actor-request.js";
import type { SupervisionPlan } from "../../proc/mesh/proc-group.js";
import { callLimit } from "../../proc/mesh/spawn-plan.js";
import { checkOptionNames } from "../../shape/index.js";
import { planRestart, type RestartOptions } from "../../supervise/restart-policy.js";

/** The options of `ProcMesh.with`. */
export interface SpawnOptions {
  /** Whether actors that fail, and those whose processes end, are made again. Default: the policy of `spawnProcs`. */
  readonly restart?: RestartOptions;
  /** The time limits of handlers. Default: no limits. */
  readonly watchdog?: WatchdogOptions;
  /**
   * The number of messages after which the process of an actor is replaced by a new one, on meshes without dimensions.
   *
   * @internal
   */
  readonly [callLimit]?: number | undefined;
}

/**
 * Time limits of handlers. For an endpoint with a `@timeout`, that timeout replaces `warn`, and `fail` keeps its
 * distance from `warn`.
 */
export interface WatchdogOptions {
  /**
   * The time after which a running handler causes a warning, which says what the handler waits for; in milliseconds,
   * more than 0.
   */
  readonly warn: number;
  /**
   * The time after which the actor of a running handler fails, in milliseconds, at least `warn`. If the process was
   * stopped or busy, the actor fails as long after the warning as `fail` exceeds `warn`. Default: never.
   */
  readonly fail?: number;
}

/** @throws TypeError, RangeError for invalid options */
export function planSupervision(options: SpawnOptions): SupervisionPlan {
  checkOptionNames("cannot spawn actors", options, ["restart", "watchdog"]);
  const { restart, watchdog, [callLimit]: maxCalls } = options;
  return {
    ...(maxCalls === undefined ? {} : { maxCalls }),
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
