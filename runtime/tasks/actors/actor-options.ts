/** The options of actors, and their checks before anything is asked for. */
import { describeValue } from "../../../shared/text/describe-value.js";

/** The options of an actor, apart from those that tasks have, too. */
export interface OwnActorOptions {
  /**
   * A name, unique among the actors of the context that live, by which other code of the context finds the actor. Text of 1 to
   * 255 bytes of UTF-8. Default: no name.
   */
  readonly name?: string;
  /**
   * Whether the actor that has the name already is returned instead of a new one. Of requests at the same time, one creates
   * the actor. Requires `name`. Default: false, so that a name in use is an error.
   */
  readonly getIfExists?: boolean;
  /**
   * The lifetime of the actor, unless `stop` ends it: that of the context, or for `"detached"` that of the job on whose hosts it runs. A detached actor
   * requires `name`, by which contexts of other programs find it, and `lookup`, too. Default: `"context"`.
   */
  readonly lifetime?: "context" | "detached";
  /**
   * The number of times that the actor is created again, with the same arguments and fresh state, after it has failed or its
   * process has ended. Calls under way are not repeated. An integer from 0, or Infinity. Default: 0.
   */
  readonly restarts?: number;
  /**
   * The largest number of calls that one process has under way by `run`; later ones wait in their order. An actor handles one
   * message at a time anyway, apart from endpoints with `@concurrent` in the schema, which this option limits for each
   * caller. The tag itself, `@concurrent 4`, limits the messages of all callers. An integer from 1. Default: no limit.
   */
  readonly maxConcurrency?: number;
  /**
   * The number of calls after which the process of the actor is replaced by a new one, for libraries that do not give their memory
   * back. Counted are the messages whose handlers have ended, and streams that have ended. Running calls end first. Later calls
   * wait and are handled by the new process, in their order. None is handled twice, and none is lost unless the old process is killed
   * meanwhile: its waiting calls reject then. The new actor gets the
   * state of `save` in its `restore`, if its class has both; otherwise it begins with the arguments of its constructor. The
   * replacement is none of the `restarts`. An integer from 1, or Infinity. Default: no limit.
   */
  readonly maxCalls?: number;
}

/** The checked options. */
export interface ActorPlan {
  readonly name: string | undefined;
  readonly getIfExists: boolean;
  readonly isDetached: boolean;
  readonly restarts: number;
  readonly maxConcurrency: number;
  /** Undefined: there is no limit. */
  readonly maxCalls: number | undefined;
}

/** The names of the options. */
export const ownActorOptionNames: readonly (keyof OwnActorOptions)[] = [
  "name",
  "getIfExists",
  "lifetime",
  "restarts",
  "maxConcurrency",
  "maxCalls",
];

/** The number of restarts that an order contains for Infinity. */
export const ENDLESS_RESTARTS = 0xffff_ffff;

/** The largest limit of calls that an order can contain. An actor that handles a million calls a second reaches it in an hour. */
const MOST_CALLS = 0xffff_ffff;

const MAX_NAME_BYTES = 255;

/**
 * @param failed the start of error messages: `cannot create actor MemoryCounter`
 * @throws TypeError, RangeError for invalid options
 */
export function planActor(failed: string, options: OwnActorOptions): ActorPlan {
  const { name, getIfExists = false, restarts = 0, lifetime = "context" } = options;
  const { maxConcurrency = Number.POSITIVE_INFINITY, maxCalls = Number.POSITIVE_INFINITY } = options;
  if (name !== undefined) checkActorName(failed, name);
  if (typeof getIfExists !== "boolean") throw typeError(failed, "getIfExists as true or false", getIfExists);
  if (getIfExists && name === undefined) throw new TypeError(`${failed}: getIfExists requires a name`);
  const isDetached = lifetime === "detached";
  if (!isDetached && lifetime !== "context") throw typeError(failed, 'lifetime "context" or "detached"', lifetime);
  if (isDetached && name === undefined) {
    throw new TypeError(`${failed}: lifetime "detached" requires a name, by which other programs find the actor`);
  }
  checkCount(failed, "restarts", restarts, 0);
  checkCount(failed, "maxConcurrency", maxConcurrency, 1);
  checkCount(failed, "maxCalls", maxCalls, 1);
  return {
    ...{ name, getIfExists, isDetached, maxConcurrency },
    restarts: Math.min(restarts, ENDLESS_RESTARTS),
    maxCalls: maxCalls > MOST_CALLS ? undefined : maxCalls,
  };
}

/** @throws TypeError, RangeError if a name is no text of 1 to 255 bytes */
export function checkActorName(failed: string, name: unknown): void {
  if (typeof name !== "string") throw typeError(failed, "a text as name", name);
  const size = Buffer.byteLength(name);
  if (size >= 1 && size <= MAX_NAME_BYTES) return;
  throw new RangeError(`${failed}: expected a name of 1 to ${MAX_NAME_BYTES} bytes, got ${size} bytes`);
}

function checkCount(failed: string, option: string, value: unknown, least: number): void {
  if (value === Number.POSITIVE_INFINITY) return;
  if (typeof value !== "number") throw typeError(failed, `${option} as a number`, value);
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(`${failed}: expected ${option} as an integer from ${least}, or Infinity, got ${value}`);
}

function typeError(failed: string, expected: string, got: unknown): TypeError {
  return new TypeError(`${failed}: expected ${expected}, got ${describeValue(got)}`);
}
