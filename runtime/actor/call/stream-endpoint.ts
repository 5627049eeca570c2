/** An endpoint whose handler streams values, and its one adverb. */
import type { Point } from "../../shape/index.js";
import type { MeshView } from "../reference/mesh-view.js";
import { type CallOptions, checkCallOptions } from "./call-guard.js";
import type { Dispatcher } from "./dispatcher.js";
import { createDispatcher } from "./intercepted-dispatcher.js";
import { startStreamCall } from "./start-call.js";

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
