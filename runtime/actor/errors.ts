/**
 * The errors that calls are rejected with. Their fields say what happened; their messages are for people. Their
 * encoding is in delivery/error-codec.ts; the errors of sending are in link/errors.ts.
 */
export { BackpressureError, DeliveryError, type DeliveryReason, MessageSizeError } from "../link/errors.js";

/** The options of the constructor of {@link ActorError}. */
export interface ActorErrorOptions {
  /** The class of the error that the handler threw. */
  readonly remoteName: string;
  /** The message of the error that the handler threw. */
  readonly message: string;
  /** The stack of the error in the actor's process. */
  readonly remoteStack: string | undefined;
  /** The cause of the error that the handler threw. */
  readonly cause: Error | undefined;
  /** The actor: `counters[1]`. */
  readonly actor: string;
  /** The rank of the actor in the mesh or slice that was called, from 0. */
  readonly rank: number;
  /** The endpoint that was called: `counters.value`. */
  readonly endpoint: string;
}

/** Rejects a call when the handler threw. The actor goes on. */
export class ActorError extends Error {
  override readonly name: string = "ActorError";
  /** The class of the error that the handler threw: `RangeError`. */
  readonly remoteName: string;
  /** The actor: `counters[1]`. */
  readonly actor: string;
  /** The rank of the actor in the mesh or slice that was called, from 0. */
  readonly rank: number;
  /** The endpoint that was called: `counters.value`. */
  readonly endpoint: string;
  /** The errors of the other ranks that failed in the same call, in rank order. */
  readonly others: readonly ActorError[];
  /**
   * The items that `map` has taken and that have no answer, in the order in which they were taken. Undefined for errors
   * of other adverbs.
   */
  pending?: readonly unknown[];
  readonly #options: ActorErrorOptions;

  /**
   * Makes an error from what the actor's process reported.
   *
   * @param options the fields of the error
   * @param others the errors of further ranks
   */
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

  /** The stack of the error in the actor's process. `stack` contains it. */
  get remoteStack(): string | undefined {
    return this.#options.remoteStack;
  }

  /**
   * Returns a copy of this error.
   *
   * @param others becomes `others` of the copy
   */
  among(others: readonly ActorError[]): ActorError {
    return new ActorError(this.#options, others);
  }
}

/** The options of the constructor of {@link SupervisionError}. */
export interface SupervisionErrorOptions extends ErrorOptions {
  /** The names of the failed actors in the mesh that was spawned, in the order of the ranks. */
  readonly actors?: readonly string[];
}

/** Rejects a call to an actor that has failed, was stopped, or whose process has ended. */
export class SupervisionError extends Error {
  override readonly name: string = "SupervisionError";
  /** The endpoint that was called: `counters.value`. */
  readonly endpoint: string;
  /** The failed ranks in the mesh or slice that was called, ascending. */
  readonly ranks: readonly number[];
  /**
   * The same actors with their ranks in the mesh that was spawned: `counters[2]`. The numbers differ from `ranks` when
   * a slice was called.
   */
  readonly actors: readonly string[];
  /**
   * The items that `map` has taken and that have no answer, in the order in which they were taken. Undefined for errors
   * of other adverbs.
   */
  pending?: readonly unknown[];

  /**
   * Makes an error.
   *
   * @param endpoint the endpoint that was called: `counters.value`
   * @param ranks the failed ranks in the mesh or slice that was called, ascending
   * @param why the text that follows "cannot call …: "
   * @param options the names of the actors, and the cause
   */
  constructor(endpoint: string, ranks: readonly number[], why: string, options: SupervisionErrorOptions = {}) {
    const { actors = [] } = options;
    super(`cannot call ${endpoint}${placeText(ranks, actors)}: ${why}`, options);
    this.endpoint = endpoint;
    this.ranks = ranks;
    this.actors = actors;
  }
}

/** Rejects `recv` when every holder of the port has ended, so that no message can arrive. */
export class OrphanedError extends SupervisionError {
  /**
   * Makes an error.
   *
   * @param why the text at the end of the message
   */
  constructor(why: string) {
    super("recv", [], why);
    this.message = `cannot receive: everyone who held the port has ended: ${why}`;
  }
}

/**
 * Returns the text " on rank 1 (counters[2])". The names of the actors follow only if their ranks in the spawned mesh
 * differ from `ranks`, the ranks in the mesh or slice that was called.
 */
function placeText(ranks: readonly number[], actors: readonly string[]): string {
  if (ranks.length === 0) return "";
  const isSlice = actors.some((actor, i) => !actor.endsWith(`[${ranks[i]}]`));
  const place = `${ranks.length === 1 ? "rank" : "ranks"} ${ranks.join(", ")}`;
  return ` on ${place}${isSlice ? ` (${actors.join(", ")})` : ""}`;
}

/** Rejects a call or a wait whose time limit has passed. */
export class TimeoutError extends Error {
  override readonly name: string = "TimeoutError";
  /**
   * The items that `map` has taken and that have no answer, in the order in which they were taken. Undefined for errors
   * of other adverbs.
   */
  pending?: readonly unknown[];
}

/** Rejects a call that would wait for an actor which itself waits for the caller. */
export class DeadlockError extends Error {
  override readonly name: string = "DeadlockError";
}

/** Thrown when a port or a receiver that has been closed is used. */
export class PortClosedError extends Error {
  override readonly name: string = "PortClosedError";
}
