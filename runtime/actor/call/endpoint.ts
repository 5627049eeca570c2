/**
 * An endpoint of a mesh and its adverbs: the ways to send one message to its actors. What is known before sending throws
 * synchronously, and then nothing has been sent; everything later rejects. How messages go to the ranks is told in
 * dispatch.ts.
 */
import { describeValue } from "../../../shared/text/describe-value.js";
import type { Point, ValueMesh } from "../../shape/index.js";
import { currentTurn } from "../context.js";
import { SupervisionError } from "../errors.js";
import { ChannelPort, Port } from "../port/port.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { Sent } from "../sent.js";
import { callAfterRestart, RestartWait } from "./call-after-restart.js";
import { type CallOptions, checkCallOptions } from "./call-guard.js";
import type { Dispatcher, RanksNeeded } from "./dispatcher.js";
import type { Future } from "./future.js";
import { GatherAll, type GatherCall, GatherReduced, GatherSettled, type Settled } from "./gather-call.js";
import { createDispatcher, receiversOf } from "./intercepted-dispatcher.js";
import {
  foldOf,
  type Operation,
  type Reduced,
  type ReductionName,
  type Reductions,
  reductionName,
} from "./reduction.js";
import { callWithRetry } from "./retried-call.js";
import { SingleCall } from "./single-call.js";
import { StreamCall } from "./stream-call.js";

let dispatcherOf: (endpoint: object) => Dispatcher;

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
    dispatcherOf = (endpoint) => (endpoint as Endpoint).#dispatcher;
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
    return startWithOptions(to, args, "any", () => startSingleCall(to, args, to.lessLoadedRank()));
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
  /** Sends the calls of `rref`. Created by the first one. */
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

function retainingDispatcherOf({ view, descriptor, options }: Dispatcher): Dispatcher {
  const index = view.descriptor.endpoints.findIndex(({ retains }) => retains === descriptor);
  return createDispatcher(view, index, options);
}

/** An endpoint whose handler yields any number of values. */
export class StreamEndpoint<A extends unknown[] = unknown[], T = unknown, D extends string = string> {
  readonly #dispatcher: Dispatcher;
  readonly #index: number;

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
   * Calls all actors at once and yields their values as they arrive. Senders wait while values are not taken, and stop
   * when the loop is left.
   *
   * @param args the arguments of the endpoint
   * @returns pairs of the position of the sender and a value, in the order of arrival
   * @throws {TypeError} when the number of arguments is wrong
   * @throws {CodecError} when an argument has a wrong type or is out of range
   */
  stream(...args: A): AsyncIterableIterator<[Point<D>, T], undefined, unknown> {
    return startStreamCall(this.#dispatcher, args) as AsyncIterableIterator<[Point<D>, T], undefined, unknown>;
  }

  /**
   * Returns the same endpoint with options for its streams. Options that were set before stay, unless `options` has
   * them.
   *
   * @param options timeout, signal, trace and waiting
   * @throws {TypeError} when an option has a wrong type
   * @throws {RangeError} when a number is out of range
   */
  with(options: Omit<CallOptions, "retry">): StreamEndpoint<A, T, D> {
    const { view, label, descriptor, options: before } = this.#dispatcher;
    checkCallOptions(label, descriptor.idempotent, options);
    return new StreamEndpoint(view, this.#index, { ...before, ...options });
  }

  /** Returns the mesh and the endpoint as text: `counters.watch`. */
  toString(): string {
    return this.#dispatcher.label;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `StreamEndpoint ${this.toString()}`;
  }
}

/**
 * Calls an endpoint and lets the answers go to a port as they arrive. Use it for protocols that no adverb covers.
 *
 * @param endpoint of a mesh
 * @param args the arguments of the endpoint
 * @param port receives the answer of each actor; its type must be that of the answers
 * @returns an awaitable that resolves when the receivers have credit for the message; it never rejects
 * @throws {TypeError} when `endpoint` is not an endpoint, `port` is not a port or is a port of another type, and
 *   whenever `call` throws
 */
export function send<A extends unknown[], R, D extends string>(
  endpoint: Endpoint<A, R, D>,
  args: A,
  port: Port<R>,
): void {
  const given: unknown = endpoint;
  if (!(given instanceof Endpoint)) {
    const got = given instanceof StreamEndpoint ? `the stream ${String(given)}` : describeValue(given);
    throw new TypeError(`cannot send: expected an endpoint that answers, got ${got}`);
  }
  const to = dispatcherOf(endpoint);
  if (!Array.isArray(args)) {
    throw new TypeError(`cannot call ${to.label}: expected a list of arguments, got ${describeValue(args)}`);
  }
  to.check(args);
  checkPort(to, port);
  const answers = startStreamCall(to, args);
  void (async () => {
    try {
      for await (const [, value] of answers) await port.send(value as R);
    } catch (error) {
      port.exception(error);
    }
  })();
}

/** @throws TypeError unless what the endpoint answers can be sent to the port */
function checkPort({ label, result }: Dispatcher, port: unknown): void {
  if (!(port instanceof Port)) throw new TypeError(`cannot call ${label}: expected a port, got ${describeValue(port)}`);
  if (result === undefined || !(port instanceof ChannelPort) || port.codec.fingerprint === result.fingerprint) return;
  throw new TypeError(`cannot call ${label}: expected a port of ${result.name}, got a port of ${port.codec.name}`);
}

/** Makes a call as its options say: again where it fails, and not before the ranks that it needs are there. */
function startWithOptions<T>(
  to: Dispatcher,
  args: readonly unknown[],
  needed: RanksNeeded,
  make: () => Future<T>,
): Future<T> {
  const { retry, wait } = to.options;
  const send = wait === true ? () => startAfterRestart(to, args, needed, make) : make;
  return retry === undefined ? send() : callWithRetry(to, retry, to.options.signal, send);
}

function startAfterRestart<T>(
  to: Dispatcher,
  args: readonly unknown[],
  needed: RanksNeeded,
  make: () => Future<T>,
): Future<T> {
  const pendingRestart = () => to.pendingRestart(needed);
  const { signal } = to.options;
  const first = signal?.aborted === true ? undefined : pendingRestart();
  if (first === undefined) return make();
  to.checkEncodable(args);
  const { timeout, keepAlive } = to;
  return callAfterRestart({ called: to, timeout, signal, keepAlive, first, pendingRestart, make });
}

function startSingleWithOptions<R>(to: Dispatcher, args: readonly unknown[]): Future<R> {
  return startWithOptions(to, args, "all", () => startSingleCall<R>(to, args, 0));
}

function startSingleCall<R>(to: Dispatcher, args: readonly unknown[], rank: number): Future<R> {
  const call = new SingleCall<R>(to, rank);
  const { signal } = to.options;
  if (signal?.aborted === true) return call.refuse(signal.reason);
  const refused = to.callOne(args, rank, call, call);
  if (refused !== undefined) return call.refuse(refused);
  if (to.timeout > 0 || signal !== undefined) call.guard(to.timeout, signal);
  return call;
}

function startGatherCall<T>(call: GatherCall<T>, to: Dispatcher, args: readonly unknown[]): Future<T> {
  const { signal } = to.options;
  if (signal?.aborted === true) return call.refuse(signal.reason);
  const refused = to.callAll(args, call);
  if (refused instanceof SupervisionError) {
    // The one actor of the mesh is known to be dead: an outcome like others, to those who ask for outcomes.
    call.failed(0, refused);
    return call;
  }
  if (refused !== undefined) return call.refuse(refused);
  if (to.timeout > 0 || signal !== undefined) call.guard(to.timeout, signal);
  call.allSent();
  return call;
}

function startStreamCall(to: Dispatcher, args: readonly unknown[]): StreamCall {
  to.check(args);
  const { signal } = to.options;
  const call = new StreamCall(to.label, to.descriptor.result, to.view);
  const obstacle = to.options.wait === true && signal?.aborted !== true ? to.pendingRestart("all") : undefined;
  if (obstacle !== undefined) {
    to.checkEncodable(args);
    void startStreamAfterRestart(to, args, call, obstacle);
  } else {
    const refused = signal?.aborted === true ? signal.reason : to.callAll(args, call);
    if (refused !== undefined) {
      call.abandon(refused, 0);
      return call;
    }
  }
  if (to.timeout > 0 || signal !== undefined) call.guard(to.clock, to.timeout, signal);
  return call;
}

/** Starts a stream as soon as all ranks are there, or one is lost. */
async function startStreamAfterRestart(
  to: Dispatcher,
  args: readonly unknown[],
  call: StreamCall,
  first: Promise<unknown>,
): Promise<void> {
  const waiting = new RestartWait(to.keepAlive);
  call.onFinished = () => waiting.giveUp();
  currentTurn()?.addOutstanding(call);
  try {
    if (!(await waiting.until(first, () => to.pendingRestart("all")))) return;
    call.turn?.removeOutstanding(call);
    to.check(args);
    const refused = to.callAll(args, call);
    if (refused !== undefined) call.abandon(refused, 0);
  } catch (error) {
    call.abandon(error, 0);
  }
}

function refuseSize(what: string, size: number): never {
  throw new RangeError(`${what}, but mesh has ${size}`);
}
