/**
 * Restart policies: they decide whether a failed rank is restarted, after which pause, and when restarting is given up.
 * A tracker counts the restarts of each rank of a mesh. The restart itself is carried out elsewhere.
 */
import { describeValue } from "../../shared/text/describe-value.js";
import { checkOptionNames } from "../shape/index.js";
import type { CheckpointStore } from "./checkpoint-store.js";
import type { PastFailure } from "./mesh-failure.js";

/**
 * A restart policy: whether failed ranks are restarted in place, at the same address, and with fresh state or that of a
 * checkpoint.
 */
export interface RestartOptions {
  /**
   * Which failures lead to a restart.
   *
   * - `"never"`: none; the owner receives the failure.
   * - `"on-failure"`: every failure, except a process that has ended with exit code 0.
   * - `"always"`: every failure, also a process that has ended with exit code 0.
   *
   * Required without `from`. Default with `from`: `"on-failure"`.
   */
  readonly policy?: "never" | "on-failure" | "always";
  /**
   * The number of restarts of a rank within the time `within`, an integer from 0, or Infinity. The owner receives the
   * next failure. Default: 3.
   */
  readonly maxRestarts?: number;
  /** The time in which restarts are counted, in milliseconds, more than 0. Default: 60,000. */
  readonly within?: number;
  /**
   * The pause before the first restart of a rank, in milliseconds, from 0 to 30,000. It doubles with each further
   * restart within the time `within`, up to 30,000. Default: 100.
   */
  readonly backoff?: number;
  /**
   * The state that a restarted actor begins with: that of its last checkpoint. Its interface must declare a state, and its
   * class must have the methods `save` and `restore`. Default: the state that its constructor makes.
   */
  readonly from?: "checkpoint";
  /**
   * The time between two checkpoints of an actor, in milliseconds, more than 0. Default: checkpoints are taken only when the
   * program calls `mesh.checkpoint()`, when a process is replaced, and with a `store` when the actors are stopped.
   */
  readonly every?: number;
  /**
   * Where checkpoints are kept. If the store has a checkpoint of the actor already when the mesh is spawned, the actor begins
   * with it. Default: the memory of the process that spawns the mesh, until the mesh ends.
   */
  readonly store?: CheckpointStore;
}

/** When checkpoints of a mesh are taken, and where they are kept. */
export interface CheckpointPlan {
  readonly every?: number;
  /** Undefined: the memory of this process. */
  readonly store?: CheckpointStore;
}

/** Restart options with all defaults filled in. `checkpoints` is undefined if actors restart with fresh state. */
export interface RestartPlan extends Required<Pick<RestartOptions, "policy" | "maxRestarts" | "within" | "backoff">> {
  readonly checkpoints?: CheckpointPlan;
}

const optionNames = ["policy", "maxRestarts", "within", "backoff", "from", "every", "store"];
const policies = ["never", "on-failure", "always"];

/** The longest pause before a restart, in milliseconds. */
const MAX_BACKOFF_MS = 30_000;

/**
 * Validates restart options and fills in the defaults.
 *
 * @param what the action that the options belong to, for error messages: `spawn procs`
 * @throws TypeError, RangeError for invalid options
 */
export function planRestart(options: RestartOptions, what: string): RestartPlan {
  if (typeof options !== "object" || options === null) throw typeError(what, "restart as an object", options);
  checkOptionNames(`cannot ${what}: invalid restart`, options, optionNames);
  const { from, maxRestarts = 3, within = 60_000, backoff = 100 } = options;
  const policy = options.policy ?? (from === undefined ? undefined : "on-failure");
  if (policy === undefined || !policies.includes(policy))
    throw typeError(what, 'the policy "never", "on-failure" or "always"', policy);
  if (maxRestarts !== Number.POSITIVE_INFINITY && (!Number.isInteger(maxRestarts) || maxRestarts < 0)) {
    throw rangeError(what, "maxRestarts of at least 0", maxRestarts);
  }
  if (!(typeof within === "number" && within > 0))
    throw rangeError(what, "within in milliseconds, more than 0", within);
  if (!(typeof backoff === "number" && backoff >= 0 && backoff <= MAX_BACKOFF_MS)) {
    throw rangeError(what, `backoff in milliseconds, from 0 to ${MAX_BACKOFF_MS}`, backoff);
  }
  const checkpoints = planCheckpoints(options, what);
  return { policy, maxRestarts, within, backoff, ...(checkpoints && { checkpoints }) };
}

function planCheckpoints({ from, every, store }: RestartOptions, what: string): CheckpointPlan | undefined {
  if (from !== undefined && from !== "checkpoint") throw typeError(what, 'restart from "checkpoint"', from);
  if (from === undefined) {
    const given = every !== undefined ? "every" : store !== undefined ? "store" : undefined;
    if (given === undefined) return undefined;
    throw new TypeError(`cannot ${what}: restart.${given} requires from: "checkpoint", but from is not given`);
  }
  if (every !== undefined && !(typeof every === "number" && every > 0)) {
    throw rangeError(what, "every in milliseconds, more than 0", every);
  }
  if (store !== undefined && !isStore(store)) {
    throw typeError(what, "a store with the methods write, read and delete", store);
  }
  return { ...(every !== undefined && { every }), ...(store !== undefined && { store }) };
}

function isStore(store: unknown): boolean {
  if (typeof store !== "object" || store === null) return false;
  const { write, read, delete: remove } = store as Partial<CheckpointStore>;
  return [write, read, remove].every((method) => typeof method === "function");
}

function typeError(what: string, expected: string, got: unknown): TypeError {
  return new TypeError(`cannot ${what}: expected ${expected}, got ${describeValue(got)}`);
}

function rangeError(what: string, expected: string, got: unknown): RangeError {
  return new RangeError(`cannot ${what}: expected ${expected}, got ${describeValue(got)}`);
}

interface RestartRecord {
  /** The time of the restart in milliseconds, by the clock that `nextDelay` is called with. */
  readonly at: number;
  readonly failure: PastFailure;
}

/** The largest number of earlier failures in a MeshFailure. */
const HISTORY_LIMIT = 16;

/** Returns whether a policy restarts a rank at all after a failure. */
export function mayRestart({ policy, maxRestarts }: RestartPlan): boolean {
  return policy !== "never" && maxRestarts > 0;
}

/** The restarts of the ranks of one mesh. */
export class RestartTracker {
  /** Whether the policy restarts a rank at all after a failure. */
  readonly restarts: boolean;
  readonly #plan: RestartPlan;
  readonly #restartsByRank = new Map<number, RestartRecord[]>();

  constructor(plan: RestartPlan) {
    this.#plan = plan;
    this.restarts = mayRestart(plan);
  }

  /**
   * Records the failure of a rank, and decides whether the rank is restarted.
   *
   * @param now the time in milliseconds, by a clock that never goes back
   * @param clean whether the process ended with exit code 0 without having been asked to end
   * @returns the pause before the restart in milliseconds, or undefined if the rank is not restarted
   */
  nextDelay(rank: number, failure: PastFailure, now: number, clean: boolean): number | undefined {
    const { policy, maxRestarts, within, backoff } = this.#plan;
    if (policy === "never" || (clean && policy === "on-failure")) return undefined;
    const recent = (this.#restartsByRank.get(rank) ?? []).filter(({ at }) => now - at < within);
    this.#restartsByRank.set(rank, recent);
    if (recent.length >= maxRestarts) return undefined;
    // With unlimited restarts the list would grow for ever. So many entries already give the longest back-off.
    if (maxRestarts === Number.POSITIVE_INFINITY && recent.length > HISTORY_LIMIT) recent.shift();
    const delay = Math.min(backoff * 2 ** recent.length, MAX_BACKOFF_MS);
    recent.push({ at: now, failure });
    return delay;
  }

  /** Returns the failures after which a rank was restarted within the time `within`, the oldest first, at most 16. */
  history(rank: number): readonly PastFailure[] {
    return (this.#restartsByRank.get(rank) ?? []).slice(-HISTORY_LIMIT).map(({ failure }) => failure);
  }
}
