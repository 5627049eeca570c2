/**
 * A turn: the handling of one message by one actor, and what its handler sees of it as `context()`. Made when a message
 * arrives, gone when it has been answered. What the handler does is the cell's concern.
 */
import type { Timer } from "../../link/clock.js";
import { emptyChain, type MessageExtension, WHOLE_MESH } from "../../link/frame/message-extension.js";
import type { Lane } from "../../link/inbound/lane.js";
import type { TraceContext } from "../../link/trace-context.js";
import { type Extent, Point } from "../../shape/index.js";
import type { HandlerTurn } from "../../wire/endpoint-interceptor.js";
import {
  type ActorContext,
  type CallerContext,
  type Context,
  type ProcContext,
  runInTurn,
  type Trace,
} from "../context.js";
import { DeliveryError, TimeoutError } from "../errors.js";
import { holderName, type PortHolder } from "../port/announce-holders.js";
import type { ActorCell } from "./actor-cell.js";
import type { Handler } from "./handler.js";
import type { Replier } from "./replier.js";
import type { StreamProducer } from "./stream-producer.js";

/** Why a caller no longer waits; on the wire the index. */
export const cancelReasons = ["cancelled", "timeout", "left"] as const;

/**
 * How much later than its caller, in milliseconds, an actor sees by itself that the caller's time is over: the caller
 * says so when it can, and must not get an answer that its own timeout has brought about.
 */
const GRACE_MS = 20;

/** A call that a handler has made and that has not been answered. */
export interface OutstandingCall {
  /** What is called: `counters.value`. */
  readonly label: string;
  /** Whose handler waits for it; told when it ends. */
  turn: Turn | undefined;
  /** Describes the wait when its time is over; the text of the error ends with it. */
  readonly waitText: string;
  /** Gives it up; `reason` is an index of `cancelReasons`. @param quietly nobody has to handle that */
  abandon(error: unknown, reason: number, quietly: boolean): void;
}

export class Turn implements Context, HandlerTurn {
  readonly cell: ActorCell;
  readonly lane: Lane;
  readonly slot: number;
  readonly handler: Handler;
  /** The call that waits for the answer, by its name on the lane's link; 0: none. */
  readonly call: number;
  readonly args: readonly unknown[];
  /** Bytes of the message, for its credit. */
  readonly size: number;
  readonly extension: MessageExtension | undefined;
  /** The handler has returned and the call has been answered. */
  isEnded = false;
  /** The caller waits no more. */
  isCancelled = false;
  /** Of an endpoint that answers by port. */
  replier: Replier | undefined;
  /** Of an endpoint that streams, once it has started. */
  stream: StreamProducer | undefined;
  #deadline = 0;
  #abort: AbortController | undefined;
  #timer: Timer | undefined;
  #span: TraceContext | undefined;
  /** What the handler has called and not been answered: most have one such call at a time. */
  #outstanding: OutstandingCall | undefined;
  #moreOutstanding: Set<OutstandingCall> | undefined;
  #chain: readonly number[] | undefined;

  constructor(
    cell: ActorCell,
    lane: Lane,
    slot: number,
    handler: Handler,
    call: number,
    args: readonly unknown[],
    size: number,
    extension: MessageExtension | undefined,
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
    if (extension === undefined || extension.extent === WHOLE_MESH) return this.cell.spec.extent;
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
    const { id, span } = this.span;
    const parent = this.extension?.trace;
    const traceparent = this.span.toString();
    return { id, spanId: span, ...(parent === undefined ? {} : { parentId: parent.span }), traceparent };
  }

  get signal(): AbortSignal {
    this.#checkRunning("signal");
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.isCancelled) this.#abort.abort(new DeliveryError("closed", "the caller no longer waits"));
      else if (this.#deadline > 0 && this.#timer === undefined) this.#startTimer();
    }
    return this.#abort.signal;
  }

  /** Whether the time that its caller gave it is over. */
  get isExpired(): boolean {
    return this.#deadline > 0 && this.cell.proc.clock.now() >= this.#deadline;
  }

  get label(): string {
    const { retains, name } = this.handler.endpoint;
    return `${this.cell.name}.${retains?.name ?? name}`;
  }

  get token(): readonly [number, number] {
    return this.cell.token;
  }

  isAwaitedBy(token: readonly [number, number]): boolean {
    return this.cell.isAwaitedBy(token);
  }

  /** The actors that wait for what this turn's handler calls, as a message carries them. One that takes other messages
   * meanwhile does not wait. */
  get chain(): readonly number[] {
    if (this.isEnded) return emptyChain;
    this.#chain ??= this.#makeChain();
    return this.#chain;
  }

  /** Its place in the trace of the message, or in one that begins here: what its handler sends follows from it. */
  get span(): TraceContext {
    if (this.#span === undefined) {
      const { traces } = this.cell.proc;
      const trace = this.extension?.trace;
      this.#span = trace === undefined ? traces.newTrace() : traces.newSpan(trace);
    }
    return this.#span;
  }

  /** For how many milliseconds its caller still waits, and so what its handler calls; 0: nobody has said. */
  get timeLeft(): number {
    if (this.#deadline === 0 || this.isEnded || this.isCancelled) return 0;
    return Math.max(1, Math.ceil(this.#deadline - this.cell.proc.clock.now()));
  }

  /** Its handler has called somebody: when its own caller waits no more, nobody waits for that either. */
  addOutstanding(call: OutstandingCall): void {
    // Somebody that it has called may have noticed first.
    if (this.isExpired && !this.isCancelled) this.cancel(cancelReasons.indexOf("timeout"));
    if (this.isEnded || this.isCancelled) return;
    call.turn = this;
    if (this.#outstanding === undefined) this.#outstanding = call;
    else {
      this.#moreOutstanding ??= new Set();
      this.#moreOutstanding.add(call);
    }
    if (this.#deadline > 0 && this.#timer === undefined) this.#startTimer();
  }

  /** What its handler has called has ended. */
  removeOutstanding(call: OutstandingCall): void {
    if (this.#outstanding === call) this.#outstanding = undefined;
    else this.#moreOutstanding?.delete(call);
  }

  /** Runs `body` as code of its handler. */
  runAsHandler(body: () => void): void {
    runInTurn(this, body);
  }

  /** What its handler has called and not been answered. */
  get outstandingCalls(): readonly OutstandingCall[] {
    const more = this.#moreOutstanding ?? [];
    return this.#outstanding === undefined ? [...more] : [this.#outstanding, ...more];
  }

  /** The caller waits no more. */
  cancel(reason: number): void {
    const { outstandingCalls } = this;
    this.isCancelled = true;
    this.#timer?.cancel();
    const timeout = cancelReasons[reason] === "timeout";
    const why = `the caller of ${this.handler.endpoint.name} waits no longer${timeout ? ": its time is over" : ""}`;
    const error = (text: string) => (timeout ? new TimeoutError(text) : new DOMException(text, "AbortError"));
    const abort = this.#abort;
    // Listeners are code of the handler, whoever has brought the news.
    if (abort !== undefined) runInTurn(this, () => abort.abort(error(why)));
    for (const call of outstandingCalls) {
      const waited = timeout ? call.waitText : "";
      call.abandon(error(`cannot call ${call.label}: ${why}${waited}`), timeout ? reason : 0, true);
    }
    this.stream?.leave();
  }

  /** The message has been handled and, if it was a call, answered. */
  end(): void {
    this.isEnded = true;
    this.#timer?.cancel();
    this.#outstanding = undefined;
    this.#moreOutstanding = undefined;
  }

  #makeChain(): readonly number[] {
    const above = this.extension?.chain ?? emptyChain;
    return this.handler.endpoint.concurrent ? above : [...above, ...this.cell.token];
  }

  #startTimer(): void {
    const { clock } = this.cell.proc;
    this.#timer = clock.after(Math.max(0, this.#deadline - clock.now()) + GRACE_MS, () => {
      if (!this.isEnded) this.cancel(cancelReasons.indexOf("timeout"));
    });
  }

  #checkRunning(what: string): void {
    if (this.isEnded) throw new Error(`cannot read context().${what}: the message has been handled already`);
  }
}

/** Who gets what a turn answers with. */
export function callerAsHolder({ lane }: Turn): PortHolder {
  const { sender } = lane;
  return { proc: sender.proc, name: holderName(sender) };
}
