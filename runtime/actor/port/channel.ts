/**
 * Channels: a port together with the receiver of its messages. The receiver belongs to the actor that opened it. The
 * credit of the senders bounds the values that have arrived and were not taken.
 */

import { describeValue } from "../../../shared/text/describe-value.js";
import { checkOptionNames } from "../../shape/index.js";
import type { Codec } from "../../wire/codec.js";
import { checkTimeout, type GetOptions } from "../call/future.js";
import { currentCell } from "../context.js";
import { PortClosedError, TimeoutError } from "../errors.js";
import type { ActorProc } from "../reference/actor-proc.js";
import type { Trace } from "../reference/handler-context.js";
import { ChannelPort, type Port } from "./port.js";
import { PortQueue } from "./port-queue.js";
import { PortTarget } from "./port-target.js";

/** Receives the values that are sent to the port of a channel. {@link Channel} opens both. */
export class PortReceiver<T> implements AsyncIterable<T> {
  readonly #queue: PortQueue;
  readonly #proc: ActorProc;

  /**
   * Called by `Channel.open`.
   *
   * @hidden
   */
  constructor(queue: PortQueue, proc: ActorProc) {
    this.#queue = queue;
    this.#proc = proc;
    // A dropped receiver is closed, so that later messages return to their senders.
    proc.drops.watch(this, queue);
  }

  /**
   * Waits for the next value. Values of one sender arrive in the order in which they were sent.
   *
   * @param options how long to wait; without a timeout, the receiver waits until a value arrives
   * @returns the value; the promise rejects with the error if the sender called `port.exception`
   * @throws {TimeoutError} as a rejection, when no value arrives in time; no value is lost
   * @throws {OrphanedError} as a rejection, when every holder of the port has ended
   * @throws {PortClosedError} as a rejection, when the receiver has been closed
   * @throws {RangeError} when the timeout is not a number of at least 0
   */
  recv(options: GetOptions = {}): Promise<T> {
    checkOptionNames("cannot receive", options, ["timeout"]);
    const timeout = checkTimeout(options.timeout);
    const ready = this.#queue.take();
    if (ready !== undefined) return ready as Promise<T>;
    if (timeout === 0) return Promise.reject(nothingReceivedError(0));
    const { keepAlive, clock } = this.#proc;
    keepAlive.hold();
    return new Promise<T>((resolve, reject) => {
      const waiting = this.#queue.wait((value) => {
        timer?.cancel();
        keepAlive.release();
        (value as Promise<T>).then(resolve, reject);
      });
      const timer =
        timeout === undefined
          ? undefined
          : clock.after(timeout, () => {
              if (!this.#queue.stopWaiting(waiting)) return;
              keepAlive.release();
              reject(nothingReceivedError(timeout));
            });
    });
  }

  /**
   * The trace position of the sender of the value that was received last; undefined if the value was sent outside a
   * handler. Pass it to `endpoint.with({ traceparent })` to make later calls part of that trace.
   */
  get trace(): Trace | undefined {
    const trace = this.#queue.trace;
    return trace && { id: trace.id, spanId: trace.span, traceparent: trace.toString() };
  }

  /** Yields the values as they arrive. The iteration ends when the receiver is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) yield await this.recv();
    } catch (error) {
      if (!(error instanceof PortClosedError)) throw error;
    }
  }

  /**
   * Closes the receiver. Values that have arrived and were not taken are dropped. Later messages to the port are
   * returned to their senders as undeliverable.
   */
  close(): void {
    this.#proc.drops.unwatch(this.#queue);
    this.#queue.close("its receiver was closed");
  }

  /** Closes the receiver at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/**
 * Opens channels: pairs of a port, which can be sent to any actor, and the receiver of its values.
 *
 * @example
 * ```ts
 * import { Channel, codec } from "viceroy";
 *
 * const [port, receiver] = Channel.open(codec.int32);
 * await port.send(7);
 * console.log(await receiver.recv({ timeout: 1_000 })); // 7
 * receiver.close();
 * ```
 */
export const Channel = {
  /**
   * Opens a channel. It belongs to the actor that opens it, and closes when that actor ends.
   *
   * @param codec the codec of the values: `codec.int32`, or a generated codec such as `TreeCodec`
   * @returns the port and its receiver
   * @throws {TypeError} when `codec` is not a codec
   */
  open<T>(codec: Codec<T>): [port: Port<T>, receiver: PortReceiver<T>] {
    checkCodec(codec);
    const cell = currentCell();
    const { proc } = cell;
    const number = proc.random.id();
    const queue = new PortQueue(cell, number, codec);
    proc.openPort(queue);
    const port = new ChannelPort(new PortTarget(proc.id, number, codec.fingerprint, proc.location), codec);
    return [port, new PortReceiver<T>(queue, proc)];
  },
};

function checkCodec(given: unknown): void {
  const { fingerprint, encodeInto } = (given ?? {}) as Partial<Codec<unknown>>;
  if (typeof fingerprint === "bigint" && typeof encodeInto === "function") return;
  const wanted = "expected a codec, such as codec.int32 or the one of a type of your schemas";
  throw new TypeError(`cannot open a channel: ${wanted}, got ${describeValue(given)}`);
}

function nothingReceivedError(timeout: number): TimeoutError {
  return new TimeoutError(`cannot receive: nothing came within ${timeout} ms`);
}
