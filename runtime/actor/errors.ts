/**
 * The errors that answers are rejected with. What happened is in their fields; the message is for people. How they
 * travel is told in error-wire.ts; errors of sending are those of the link.
 */
export { BackpressureError, DeliveryError, type DeliveryReason, MessageSizeError } from "../link/errors.js";

/** What `new ActorError` takes. */
export interface ActorErrorOptions {
  readonly remoteName: string;
  readonly message: string;
  readonly remoteStack: string | undefined;
  readonly cause: Error | undefined;
  readonly actor: string;
  readonly rank: number;
  readonly endpoint: string;
}

/** A handler threw. The actor lives. */
export class ActorError extends Error {
  override readonly name: string = "ActorError";
  /** The class of the error that was thrown: `RangeError`. */
  readonly remoteName: string;
  /** The actor: `counters[1]`. */
  readonly actor: string;
  /** Its rank in the mesh that was called, which may be a slice. */
  readonly rank: number;
  /** What was called: `counters.value`. */
  readonly endpoint: string;
  /** The errors of the other ranks that failed in the same call, by rank. */
  readonly others: readonly ActorError[];
  readonly #options: ActorErrorOptions;

  constructor(options: ActorErrorOptions, others: readonly ActorError[] = []) {
    super(options.message, options.cause === undefined ? {} : { cause: options.cause });
    this.#options = options;
    this.remoteName = options.remoteName;
    this.actor = options.actor;
    this.rank = options.rank;
    this.endpoint = options.endpoint;
    this.others = others;
    const where = `    in ${options.endpoint} of ${options.actor}`;
    this.stack = `${this.name}: ${options.message}\n${where}\n${options.remoteStack ?? options.remoteName}`;
  }

  /** Where it was thrown, in the actor's process: part of `stack`. */
  get remoteStack(): string | undefined {
    return this.#options.remoteStack;
  }

  /** The same error, as the first of several. */
  among(others: readonly ActorError[]): ActorError {
    return new ActorError(this.#options, others);
  }
}

/** Further options of `new SupervisionError`. */
export interface SupervisionErrorOptions extends ErrorOptions {
  /** By the order of the ranks. */
  readonly actors?: readonly string[];
}

/** The actor that was called has failed, was stopped, or its process has ended: there will be no answer. */
export class SupervisionError extends Error {
  override readonly name: string = "SupervisionError";
  /** What was called: `counters.value`. */
  readonly endpoint: string;
  /** Ranks in the mesh that was called, ascending. */
  readonly ranks: readonly number[];
  /** The same, named as in the mesh that was spawned, which differs where a slice was called: `counters[2]`. */
  readonly actors: readonly string[];

  constructor(endpoint: string, ranks: readonly number[], why: string, options: SupervisionErrorOptions = {}) {
    const { actors = [] } = options;
    super(`cannot call ${endpoint}${placeText(ranks, actors)}: ${why}`, options);
    this.endpoint = endpoint;
    this.ranks = ranks;
    this.actors = actors;
  }
}

/** Waiting for a message that nobody can send any more. */
export class OrphanedError extends SupervisionError {
  constructor(why: string) {
    super("recv", [], why);
    this.message = `cannot receive: everyone who held the port has ended: ${why}`;
  }
}

/** Both names of each place, if they differ: the rank in what was called, and the actor in what was spawned. */
function placeText(ranks: readonly number[], actors: readonly string[]): string {
  if (ranks.length === 0) return "";
  const isSlice = actors.some((actor, i) => !actor.endsWith(`[${ranks[i]}]`));
  const place = `${ranks.length === 1 ? "rank" : "ranks"} ${ranks.join(", ")}`;
  return ` on ${place}${isSlice ? ` (${actors.join(", ")})` : ""}`;
}

/** Nothing came within the time that was given. */
export class TimeoutError extends Error {
  override readonly name: string = "TimeoutError";
}

/** A call that would wait for an actor which waits for the caller. */
export class DeadlockError extends Error {
  override readonly name: string = "DeadlockError";
}

/** A port or receiver that will not take or give anything any more. */
export class PortClosedError extends Error {
  override readonly name: string = "PortClosedError";
}
