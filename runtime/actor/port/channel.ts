/**
 * Channels: a port and the receiver of what is sent to it. The receiver belongs to the actor that opened it; what has
 * come and has not been taken is bounded by the credit of its senders.
 */

import { checkOptionNames, describeValue } from "../../shape/index.js";
import type { Codec } from "../../wire/codec.js";
import { checkTimeout, type GetOptions } from "../call/future.js";
import { currentCell, type Trace } from "../context.js";
import { PortClosedError, TimeoutError } from "../errors.js";
import type { Proc } from "../proc/proc.js";
import { ChannelPort, type Port, PortTarget } from "./port.js";
import { PortQueue } from "./port-queue.js";

export class PortReceiver<T> implements AsyncIterable<T> {
  readonly #queue: PortQueue;
  readonly #proc: Proc;

  /** Made by `Channel.open`. */
  constructor(queue: PortQueue, proc: Proc) {
    this.#queue = queue;
    this.#proc = proc;
    // What nobody has any more is closed: what is sent to it comes back.
    proc.drops.watch(this, queue);
  }

  /**
   * The next value, in the order of its sender. Rejects with what was sent as an exception, with SupervisionError when
   * everyone who held the port has died, with PortClosedError when the receiver was closed.
   * @throws TimeoutError (as a rejection) when nothing comes in time; then nothing is lost
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
   * Where the value that was received last was sent from; undefined if that was outside of any handler. What this
   * receiver's owner sends because of it can be made part of that trace: `endpoint.with({ traceparent })`.
   */
  get trace(): Trace | undefined {
    const trace = this.#queue.trace;
    return trace && { id: trace.id, spanId: trace.span, traceparent: trace.toString() };
  }

  /** All values from now on; ends when the receiver is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) yield await this.recv();
    } catch (error) {
      if (!(error instanceof PortClosedError)) throw error;
    }
  }

  /** Takes nothing more: what has not been taken is dropped, what is sent from now on comes back to its sender. */
  close(): void {
    this.#proc.drops.unwatch(this.#queue);
    this.#queue.close("its receiver was closed");
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export const Channel = {
  /**
   * A port for values of the codec's type, and its receiver. Belongs to the actor that opens it and ends with it.
   * @throws TypeError if it is no codec
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
