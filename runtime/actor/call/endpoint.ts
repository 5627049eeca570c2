/**
 * An endpoint of a mesh and its adverbs: the ways to send one message to its actors. What is known before sending throws
 * synchronously, and then nothing has been sent; everything later rejects. How messages go to the ranks is told in
 * dispatch.ts.
 */
import { describeValue, type Point, type ValueMesh } from "../../shape/index.js";
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

/** `O`: the operation that its `@reduce` names. */
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

  /** Made by meshes. */
  constructor(view: MeshView, index: number, options: CallOptions = {}) {
    this.#dispatcher = createDispatcher(view, index, options);
    this.#index = index;
  }

  /**
   * All answers. Waits for all actors, then rejects with the ActorError of the lowest rank that failed; a failure of an
   * actor itself rejects at once with SupervisionError.
   */
  call(...args: A): Future<ValueMesh<R, D>> {
    const to = this.#dispatcher;
    to.check(args);
    return startWithOptions(to, args, "all", () => startGatherCall(new GatherAll<R, D>(to, to.view), to, args));
  }

  /** The answer of the one actor. @throws RangeError if there are more or fewer */
  callOne(...args: A): Future<R> {
    const to = this.#dispatcher;
    if (to.view.size !== 1) refuseSize("callOne requires exactly 1 actor", to.view.size);
    to.check(args);
    // No closure in here: it would cost a scope for every call.
    return to.isDeferrable ? startSingleWithOptions<R>(to, args) : startSingleCall(to, args, 0);
  }

  /** Sends without an answer. @returns what to await so that receivers keep up; it never rejects */
  broadcast(...args: A): Sent {
    const to = this.#dispatcher;
    to.check(args);
    return to.cast(args);
  }

  /**
   * The answer of one living actor: the one with less under way of two drawn at random. Rejects with SupervisionError if none
   * lives.
   * @throws RangeError on an empty mesh
   */
  choose(...args: A): Future<R> {
    const to = this.#dispatcher;
    if (to.view.size === 0) refuseSize("choose requires at least 1 actor", 0);
    to.check(args);
    return startWithOptions(to, args, "any", () => startSingleCall(to, args, to.lessLoadedRank()));
  }

  /** Each answer as it comes, with its place. */
  stream(...args: A): AsyncIterableIterator<[Point<D>, R], undefined, unknown> {
    return startStreamCall(this.#dispatcher, args) as AsyncIterableIterator<[Point<D>, R], undefined, unknown>;
  }

  /** All outcomes, errors and failures of actors included. Never rejects because of them. */
  callSettled(...args: A): Future<ValueMesh<Settled<R>, D>> {
    const to = this.#dispatcher;
    to.check(args);
    return startWithOptions(to, args, "each", () => startGatherCall(new GatherSettled<R, D>(to, to.view), to, args));
  }

  /**
   * One answer made of all, folded in rank order. Rejects as `call` does.
   * @param operation may be left out, or be undefined, where the endpoint has a `@reduce`
   */
  reduce<const P extends Operation<R, unknown>>(operation: P, ...args: A): Future<Reduced<R, P>>;
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

  /** The same endpoint with options for its calls. @throws TypeError, RangeError on options that cannot be */
  with(options: CallOptions): Endpoint<A, R, D, O> {
    const { view, label, descriptor, options: before } = this.#dispatcher;
    checkCallOptions(label, descriptor.idempotent, options);
    return new Endpoint(view, this.#index, { ...before, ...options });
  }

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

/** An endpoint with a `@propagate`. `P`: what `rref` answers. */
export class PropagatedEndpoint<
  A extends unknown[] = unknown[],
  R = unknown,
  D extends string = string,
  P = unknown,
> extends Endpoint<A, R, D> {
  /** By which it is called where its answers stay. */
  #retaining: Dispatcher | undefined;

  /**
   * The answers stay with the actors, as a tensor of the mesh of processes that they are on, which must be active. Of what actors answer
   * here are shape and type: at once where `@propagate` names a function that tells them, otherwise when all have answered.
   * An actor that fails is a failure of the tensor.
   * @throws TensorError if the processes of the actors are no mesh that is active
   */
  rref(...args: A): P {
    const to = dispatcherOf(this);
    to.check(args);
    this.#retaining ??= retainingDispatcherOf(to);
    const keeping = this.#retaining;
    const send = (key: unknown) => {
      const call = () => startGatherCall(new GatherSettled<unknown, D>(keeping, to.view), keeping, [key, args]);
      const outcomes = keeping.options.wait === true ? startAfterRestart(keeping, [key, args], "each", call) : call();
      return outcomes.then((all) => all.values());
    };
    return to.descriptor.tensors!.rref({ ...receiversOf(to), args, send }) as P;
  }

  override with(options: CallOptions): PropagatedEndpoint<A, R, D, P> {
    const { view, label, descriptor, options: before } = dispatcherOf(this);
    checkCallOptions(label, descriptor.idempotent, options);
    return new PropagatedEndpoint(view, view.descriptor.endpoints.indexOf(descriptor), { ...before, ...options });
  }
}

function retainingDispatcherOf({ view, descriptor, options }: Dispatcher): Dispatcher {
  const index = view.descriptor.endpoints.findIndex(({ keeps }) => keeps === descriptor);
  return createDispatcher(view, index, options);
}

/** An endpoint whose handler yields any number of values. */
export class StreamEndpoint<A extends unknown[] = unknown[], T = unknown, D extends string = string> {
  readonly #dispatcher: Dispatcher;
  readonly #index: number;

  /** Made by meshes. */
  constructor(view: MeshView, index: number, options: CallOptions = {}) {
    this.#dispatcher = createDispatcher(view, index, options);
    this.#index = index;
  }

  /**
   * The values of all actors as they come, each with the place of its sender. Asked for at once; what is not taken makes
   * the senders wait. Leaving the loop stops them.
   */
  stream(...args: A): AsyncIterableIterator<[Point<D>, T], undefined, unknown> {
    return startStreamCall(this.#dispatcher, args) as AsyncIterableIterator<[Point<D>, T], undefined, unknown>;
  }

  /** The same endpoint with options for its streams. @throws TypeError, RangeError on options that cannot be */
  with(options: Omit<CallOptions, "retry">): StreamEndpoint<A, T, D> {
    const { view, label, descriptor, options: before } = this.#dispatcher;
    checkCallOptions(label, descriptor.idempotent, options);
    return new StreamEndpoint(view, this.#index, { ...before, ...options });
  }

  toString(): string {
    return this.#dispatcher.label;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `StreamEndpoint ${this.toString()}`;
  }
}

/**
 * Calls an endpoint and lets the answers go to a port, as they come: for protocols of one's own.
 * @throws TypeError for what is no endpoint or no port, and for a port of something else than the endpoint answers; what
 * `call` throws
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
  const obstacle = () => to.pendingRestart(needed);
  const { signal } = to.options;
  const first = signal?.aborted === true ? undefined : obstacle();
  if (first === undefined) return make();
  to.checkEncodable(args);
  const { timeout, keepAlive } = to;
  return callAfterRestart({ called: to, timeout, signal, keepAlive, first, pendingRestart: obstacle, make });
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
