/**
 * A turn: the handling of one message by one actor, and what its handler sees of it as `context()`. Made when a message
 * arrives, gone when it has been answered. What the handler does is the cell's concern.
 */
import type { Timer } from "../link/clock.js";
import { type Extension, noChain, WHOLE_MESH } from "../link/extension.js";
import type { Lane } from "../link/lane.js";
import { type Extent, Point } from "../shape/index.js";
import type { Cell } from "./cell.js";
import type { ActorContext, CallerContext, Context, ProcContext, Trace } from "./context.js";
import { DeliveryError, TimeoutError } from "./errors.js";
import type { Handler } from "./handler.js";
import { type Holder, holderName } from "./holders.js";
import type { Replier } from "./replier.js";
import type { StreamSource } from "./stream-source.js";

/** Why a caller no longer waits; on the wire the index. */
export const cancelReasons = ["cancelled", "timeout", "left"] as const;

/**
 * How much later than its caller, in milliseconds, an actor sees by itself that the caller's time is over: the caller
 * says so when it can, and must not get an answer that its own timeout has brought about.
 */
const GRACE_MS = 20;

export class Turn implements Context {
  readonly cell: Cell;
  readonly lane: Lane;
  readonly slot: number;
  readonly handler: Handler;
  /** The call that waits for the answer, by its name on the lane's link; 0: none. */
  readonly call: number;
  readonly args: readonly unknown[];
  /** Bytes of the message, for its credit. */
  readonly size: number;
  readonly extension: Extension | undefined;
  /** The handler has returned and the call has been answered. */
  ended = false;
  /** The caller waits no more. */
  cancelled = false;
  /** Of an endpoint that answers by port. */
  replier: Replier | undefined;
  /** Of an endpoint that streams, once it has started. */
  stream: StreamSource | undefined;
  #deadline = 0;
  #abort: AbortController | undefined;
  #timer: Timer | undefined;
  #trace: readonly [number, number] | undefined;
  #chain: readonly number[] | undefined;

  constructor(
    cell: Cell,
    lane: Lane,
    slot: number,
    handler: Handler,
    call: number,
    args: readonly unknown[],
    size: number,
    extension: Extension | undefined,
  ) {
    this.cell = cell;
    this.lane = lane;
    this.slot = slot;
    this.handler = handler;
    this.call = call;
    this.args = args;
    this.size = size;
    this.extension = extension;
    if (extension !== undefined && extension.timeout > 0) this.#deadline = cell.proc.clock.now() + extension.timeout;
  }

  get extent(): Extent {
    this.#checkRunning("extent");
    const extension = this.extension;
    if (extension === undefined || extension.extent === WHOLE_MESH) return this.cell.shape.extent;
    return this.lane.link.extents[extension.extent] ?? {};
  }

  get rank(): Point {
    this.#checkRunning("rank");
    const extension = this.extension;
    if (extension === undefined || extension.extent === WHOLE_MESH) return this.actor.rank;
    return new Point(this.extent, extension.rank);
  }

  get actor(): ActorContext {
    return this.cell.context;
  }

  get proc(): ProcContext {
    return this.cell.proc.context;
  }

  get caller(): CallerContext {
    const { sender } = this.lane;
    return { id: sender, name: sender.name };
  }

  get trace(): Trace {
    const [low, high] = this.traceWords;
    return { id: (BigInt(high) * 0x1_0000_0000n + BigInt(low)).toString(16).padStart(16, "0") };
  }

  get signal(): AbortSignal {
    this.#checkRunning("signal");
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.cancelled) this.#abort.abort(new DeliveryError("closed", "the caller no longer waits"));
      else if (this.#deadline > 0) this.#startTimer();
    }
    return this.#abort.signal;
  }

  /** Whether the time that its caller gave it is over. */
  get expired(): boolean {
    return this.#deadline > 0 && this.cell.proc.clock.now() >= this.#deadline;
  }

  /** The actors that wait for what this turn's handler calls, as a message carries them. One that takes other messages
   * meanwhile does not wait. */
  get chain(): readonly number[] {
    if (this.ended) return noChain;
    this.#chain ??= this.#makeChain();
    return this.#chain;
  }

  /** Two words that name the trace: those of the message, or for its first message the sender's lane and its place. */
  get traceWords(): readonly [number, number] {
    const extension = this.extension;
    if (extension !== undefined && (extension.traceLow | extension.traceHigh) !== 0) {
      return [extension.traceLow, extension.traceHigh];
    }
    this.#trace ??= this.cell.proc.newTrace();
    return this.#trace;
  }

  /** The caller waits no more. */
  cancel(reason: number): void {
    this.cancelled = true;
    this.#timer?.cancel();
    const error =
      cancelReasons[reason] === "timeout"
        ? new TimeoutError(`the caller of ${this.handler.endpoint.name} waits no longer: its time is over`)
        : new DOMException(`the caller of ${this.handler.endpoint.name} waits no longer`, "AbortError");
    this.#abort?.abort(error);
    this.stream?.leave();
  }

  /** The message has been handled and, if it was a call, answered. */
  end(): void {
    this.ended = true;
    this.#timer?.cancel();
  }

  #makeChain(): readonly number[] {
    const above = this.extension?.chain ?? noChain;
    return this.handler.endpoint.concurrent ? above : [...above, ...this.cell.token];
  }

  #startTimer(): void {
    const { clock } = this.cell.proc;
    this.#timer = clock.after(Math.max(0, this.#deadline - clock.now()) + GRACE_MS, () => {
      if (!this.ended) this.cancel(cancelReasons.indexOf("timeout"));
    });
  }

  #checkRunning(what: string): void {
    if (this.ended) throw new Error(`cannot read context().${what}: the message has been handled already`);
  }
}

/** Who gets what a turn answers with. */
export function callerOf({ lane }: Turn): Holder {
  const { sender } = lane;
  return { proc: sender.proc, name: holderName(sender) };
}
