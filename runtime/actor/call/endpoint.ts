/**
 * An endpoint of a mesh and its adverbs: the ways to send one message to its actors. Errors that are known before sending
 * are thrown, and then nothing has been sent. Later errors reject the answer. The dispatcher sends the messages.
 */
import type { Point, ValueMesh } from "../../shape/index.js";
import { currentCell } from "../context.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { Sent } from "../sent.js";
import { type CallOptions, checkCallOptions } from "./call-guard.js";
import type { Dispatcher } from "./dispatcher.js";
import type { Future } from "./future.js";
import { GatherAll, GatherReduced, GatherSettled, type Settled } from "./gather-call.js";
import { createDispatcher, receiversOf } from "./intercepted-dispatcher.js";
import { drawLessLoadedRank } from "./living-ranks.js";
import { MapCall } from "./map/map-call.js";
import type { MapItems, MapOptions, MapOptionsWithArgs, SingleArgument } from "./map/map-options.js";
import {
  foldOf,
  type Operation,
  type Reduced,
  type ReductionName,
  type Reductions,
  reductionName,
} from "./reduction.js";
import {
  startAfterRestart,
  startGatherCall,
  startSingleCall,
  startSingleWithOptions,
  startStreamCall,
  startWithOptions,
} from "./start-call.js";

let readDispatcher: (endpoint: object) => Dispatcher;

/**
 * One endpoint of a mesh. Its methods, the adverbs, are the ways to send one message to the actors of the mesh. An
 * adverb that throws has sent nothing; every later error rejects the answer. `O` is the operation that the endpoint's
 * `@reduce` tag names.
 *
 * Every adverb throws TypeError for a wrong number of arguments, {@link CodecError} for arguments of a wrong type or
 * range, {@link SupervisionError} when the mesh has been stopped, {@link BackpressureError} when more than the send
 * window is waiting for the receiver, and {@link MessageSizeError} for a message that is too large.
 */
export class Endpoint<
  A extends unknown[] = unknown[],
  R = unknown,
  D extends string = string,
  O extends ReductionName = never,
> {
  readonly #dispatcher: Dispatcher;
  readonly #index: number;

  static {
    readDispatcher = (endpoint) => (endpoint as Endpoint).#dispatcher;
  }

  /**
   * Called by meshes.
   *
   * @hidden
   */
  constructor(view: MeshView, index: number, options: CallOptions = {}) {
    this.#dispatcher = createDispatcher(view, index, options);
    this.#index = index;
  }

  /**
   * Calls all actors and returns their answers.
   *
   * @param args the arguments of the endpoint
   * @returns the answers, one for each rank
   * @throws {ActorError} as a rejection, when a handler threw: the error of the lowest such rank, after all ranks have
   *   answered; `others` has the rest
   * @throws {SupervisionError} as a rejection, as soon as one of the actors is known to have failed
   * @throws {TimeoutError} as a rejection, when the timeout of the call has passed
   * @throws {DeadlockError} as a rejection, when the call would wait for an actor that waits for the caller
   */
  call(...args: A): Future<ValueMesh<R, D>> {
    const to = this.#dispatcher;
    to.check(args);
    return startWithOptions(to, args, "all", () => startGatherCall(new GatherAll<R, D>(to, to.view), to, args));
  }

  /**
   * Calls the only actor of the mesh and returns its answer. The future rejects as that of `call`.
   *
   * @param args the arguments of the endpoint
   * @returns the answer
   * @throws {RangeError} when the mesh does not have exactly one actor
   */
  callOne(...args: A): Future<R> {
    const to = this.#dispatcher;
    if (to.view.size !== 1) refuseSize("callOne requires exactly 1 actor", to.view.size);
    to.check(args);
    // No closure in here: it would cost a scope for every call.
    return to.isDeferrable ? startSingleWithOptions<R>(to, args) : startSingleCall(to, args, 0);
  }

  /**
   * Sends the message to all actors without expecting an answer. If a handler throws, its actor fails.
   *
   * @param args the arguments of the endpoint
   * @returns an awaitable that resolves when the receivers have credit for the message; it never rejects
   */
  broadcast(...args: A): Sent {
    const to = this.#dispatcher;
    to.check(args);
    return to.cast(args);
  }

  /**
   * Calls one living actor: of two that are drawn at random, the one with fewer calls under way. The future rejects as
   * that of `call`, and with SupervisionError when no actor lives.
   *
   * @param args the arguments of the endpoint
   * @returns the answer of that actor
   * @throws {RangeError} when the mesh is empty
   */
  choose(...args: A): Future<R> {
    const to = this.#dispatcher;
    if (to.view.size === 0) refuseSize("choose requires at least 1 actor", 0);
    to.check(args);
    return startWithOptions(to, args, "any", () =>
      startSingleCall(to, args, drawLessLoadedRank(to.view, currentCell())),
    );
  }

  /**
   * Calls all actors and yields each answer as it arrives.
   *
   * @param args the arguments of the endpoint
   * @returns pairs of the position of an actor and its answer, in the order of arrival
   */
  stream(...args: A): AsyncIterableIterator<[Point<D>, R], undefined, unknown> {
    return startStreamCall(this.#dispatcher, args) as AsyncIterableIterator<[Point<D>, R], undefined, unknown>;
  }

  /**
   * Calls all actors and returns how the call ended on each of them. Errors of handlers and failures of actors do not
   * reject the future.
   *
   * @param args the arguments of the endpoint
   * @returns for each rank `{ status: "fulfilled", value }` or `{ status: "rejected", reason }`
   */
  callSettled(...args: A): Future<ValueMesh<Settled<R>, D>> {
    const to = this.#dispatcher;
    to.check(args);
    return startWithOptions(to, args, "each", () => startGatherCall(new GatherSettled<R, D>(to, to.view), to, args));
  }

  /**
   * Calls all actors and combines their answers into one, in rank order. The future rejects as that of `call`.
   *
   * @example
   * ```ts
   * import type { Endpoint } from "viceroy";
   *
   * declare const loss: Endpoint<[step: number], number>;
   * const total = await loss.reduce("sum", 10);
   * const worst = await loss.reduce((left, right) => Math.max(left, right), 10);
   * ```
   *
   * @param operation `"sum"`, `"min"`, `"max"`, `"concat"` or `"count"`, a {@link Reducer}, or an associative function
   *   of two answers
   * @param args the arguments of the endpoint
   * @returns the combined answer
   * @throws {TypeError} when `operation` is not an operation
   */
  reduce<const P extends Operation<R, unknown>>(operation: P, ...args: A): Future<Reduced<R, P>>;
  /**
   * Calls all actors and combines their answers by the operation that the endpoint's `@reduce` tag names.
   *
   * @param args undefined, or nothing, in place of the operation; then the arguments of the endpoint
   * @returns the combined answer
   */
  reduce(...args: DeclaredArgs<A, O>): Future<DeclaredResult<R, O>>;
  reduce(operation?: unknown, ...args: unknown[]): Future<unknown> {
    const to = this.#dispatcher;
    to.check(args);
    const by = operation ?? to.descriptor.reduce;
    const fold = foldOf(to.label, by) as (values: readonly R[]) => unknown;
    return startWithOptions(to, args, "all", () =>
      startGatherCall(new GatherReduced(to, to.view, fold, reductionName(by)), to, args),
    );
  }

  /**
   * Calls the endpoint once for each item, on whichever living actor is free, and yields each item with its answer. Each
   * actor has `inFlight` items at a time, so that an endless source is taken no faster than the results are. Nothing is
   * taken or sent before the first result is asked for. Leaving the loop cancels the calls under way and closes the
   * source.
   *
   * The items of an actor that fails, and those whose `timeout` passes, are given to other actors where the endpoint is
   * `@idempotent`. Each item is yielded at most once.
   *
   * @example
   * ```ts
   * import type { Endpoint } from "viceroy";
   *
   * declare const count: Endpoint<[text: string], number>;
   * declare const pages: AsyncIterable<string>;
   * let total = 0;
   * for await (const [page, words] of count.map(pages, { inFlight: 4, ordered: false })) {
   *   console.log(`${words} words: ${page.slice(0, 20)}`);
   *   total += words;
   * }
   * ```
   *
   * @param items the arguments of the calls, one for each; any iterable, also an asynchronous or an endless one
   * @param options places for each actor, order, attempts, signal and progress; `args` for endpoints with several
   *   arguments
   * @returns pairs of an item and its answer. An error comes after the results that have arrived before it, and its
   *   `pending` has the items without an answer
   * @throws {RangeError} when the mesh is empty, or a number is out of range
   * @throws {ActorError} as a rejection, when a handler threw
   * @throws {SupervisionError} as a rejection, when an actor failed and the endpoint is not `@idempotent`, when an item
   *   has failed as often as `retry` allows, or when no actor is left
   * @throws {TimeoutError} as a rejection, when the timeout of an item has passed as often as `retry` allows
   */
  map<I extends SingleArgument<A>>(
    items: MapItems<I>,
    options?: MapOptions,
  ): AsyncIterableIterator<[item: I, value: R], undefined, unknown>;
  map<I>(
    items: MapItems<I>,
    options: MapOptionsWithArgs<I, A>,
  ): AsyncIterableIterator<[item: I, value: R], undefined, unknown>;
  map(items: MapItems<unknown>, options: MapOptions = {}): unknown {
    return new MapCall(this.#dispatcher, items, options, false);
  }

  /**
   * Does what `map` does, but errors of items are results, so that the loop goes on after them.
   *
   * @param items the arguments of the calls, one for each
   * @param options the options of `map`
   * @returns pairs of an item and `{ status: "fulfilled", value }` or `{ status: "rejected", reason }`
   * @throws {SupervisionError} as a rejection, when no actor is left
   */
  mapSettled<I extends SingleArgument<A>>(
    items: MapItems<I>,
    options?: MapOptions,
  ): AsyncIterableIterator<[item: I, outcome: Settled<R>], undefined, unknown>;
  mapSettled<I>(
    items: MapItems<I>,
    options: MapOptionsWithArgs<I, A>,
  ): AsyncIterableIterator<[item: I, outcome: Settled<R>], undefined, unknown>;
  mapSettled(items: MapItems<unknown>, options: MapOptions = {}): unknown {
    return new MapCall(this.#dispatcher, items, options, true);
  }

  /**
   * Returns the same endpoint with options for its calls. Options that were set before stay, unless `options` has them.
   *
   * @param options timeout, signal, retry, trace and waiting
   * @throws {TypeError} when an option has a wrong type, or `retry` is given for an endpoint without `@idempotent`
   * @throws {RangeError} when a number is out of range
   */
  with(options: CallOptions): Endpoint<A, R, D, O> {
    const { view, label, descriptor, options: before } = this.#dispatcher;
    checkCallOptions(label, descriptor.idempotent, options);
    return new Endpoint(view, this.#index, { ...before, ...options });
  }

  /** Returns the mesh and the endpoint as text: `counters.value`. */
  toString(): string {
    return this.#dispatcher.label;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Endpoint ${this.toString()}`;
  }
}

/** The arguments of `reduce` where the operation is the declared one. */
type DeclaredArgs<A extends unknown[], O> = [O] extends [never] ? never : [operation?: undefined, ...args: A];
type DeclaredResult<R, O extends ReductionName> = [O] extends [never] ? unknown : Reductions<R>[O];

/**
 * An endpoint with a `@propagate` tag, whose answers can stay with the actors as a tensor. `P` is the result of `rref`.
 */
export class PropagatedEndpoint<
  A extends unknown[] = unknown[],
  R = unknown,
  D extends string = string,
  P = unknown,
> extends Endpoint<A, R, D> {
  /** The dispatcher of the calls whose answers stay with the actors. */
  #retaining: Dispatcher | undefined;

  /**
   * Calls all actors and leaves their answers in their processes, as a tensor of the mesh of procs that the actors live
   * on. Only shapes and types are sent to the caller: at once if `@propagate` names a function that computes them,
   * otherwise when all actors have answered. If an actor fails, the tensor fails.
   *
   * @param args the arguments of the endpoint
   * @returns the tensor
   * @throws {TensorError} when the procs of the actors are not an active tensor mesh
   */
  rref(...args: A): P {
    const to = dispatcherOf(this);
    to.check(args);
    this.#retaining ??= retainingDispatcherOf(to);
    const retaining = this.#retaining;
    const send = (key: unknown) => {
      const call = () => startGatherCall(new GatherSettled<unknown, D>(retaining, to.view), retaining, [key, args]);
      const outcomes =
        retaining.options.wait === true ? startAfterRestart(retaining, [key, args], "each", call) : call();
      return outcomes.then((all) => all.values());
    };
    return to.descriptor.interceptor!.callRetaining({ ...receiversOf(to), args, send }) as P;
  }

  /**
   * Returns the same endpoint with options for its calls. Options that were set before stay, unless `options` has them.
   *
   * @param options timeout, signal, retry, trace and waiting
   * @throws {TypeError} when an option has a wrong type, or `retry` is given for an endpoint without `@idempotent`
   * @throws {RangeError} when a number is out of range
   */
  override with(options: CallOptions): PropagatedEndpoint<A, R, D, P> {
    const { view, label, descriptor, options: before } = dispatcherOf(this);
    checkCallOptions(label, descriptor.idempotent, options);
    return new PropagatedEndpoint(view, view.descriptor.endpoints.indexOf(descriptor), { ...before, ...options });
  }
}

/** Returns the dispatcher of an endpoint. */
export function dispatcherOf(endpoint: object): Dispatcher {
  return readDispatcher(endpoint);
}

function retainingDispatcherOf({ view, descriptor, options }: Dispatcher): Dispatcher {
  const index = view.descriptor.endpoints.findIndex(({ retains }) => retains === descriptor);
  return createDispatcher(view, index, options);
}

function refuseSize(what: string, size: number): never {
  throw new RangeError(`${what}, but mesh has ${size}`);
}
