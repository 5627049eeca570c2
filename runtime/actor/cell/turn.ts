/**
 * The turn of a message: its handling by one actor, from its arrival to its answer. The handler sees the turn as
 * `context()`. The mailbox decides when the handler runs.
 */
import type { Timer } from "../../link/clock.js";
import { emptyChain, type MessageExtension, WHOLE_MESH } from "../../link/frame/message-extension.js";
import type { Lane } from "../../link/inbound/lane.js";
import type { TraceContext } from "../../link/trace-context.js";
import { type Extent, Point } from "../../shape/index.js";
import type { HandlerTurn } from "../../wire/endpoint-interceptor.js";
import { type AnyTurn, runInTurn } from "../context.js";
import { DeliveryError, TimeoutError } from "../errors.js";
import { holderName, type PortHolder } from "../port/announce-holders.js";
import type { ActorContext, CallerContext, ProcContext, Trace } from "../reference/handler-context.js";
import type { LocalActor } from "../reference/local-actor.js";
import type { CallingTurn, OutstandingCall } from "../reference/outstanding-call.js";
import type { Handler } from "./message-handler.js";

/** The reasons why a caller stops waiting. A cancel frame carries the index. */
export const cancelReasons = ["cancelled", "timeout", "left"] as const;

/**
 * The time that an actor waits after the timeout of a caller before it cancels the turn by itself, in milliseconds. The
 * caller normally sends a cancel frame. If the actor cancelled earlier, the caller could receive an answer that its own
 * timeout has caused.
 */
const GRACE_MS = 20;

/** The `@respond` port of a turn, by which its call is answered. */
export interface TurnReplier {
  /** Creates the port that the handler receives as its first argument. */
  port(): unknown;
  /** Called when the handler has returned for good. */
  handlerEnded(): void;
  /** Called when the handler has thrown. Returns whether a caller received the error. */
  handlerThrew(error: unknown): boolean;
  /** Answers the call with `error`, because the actor has ended. */
  interrupt(error: DeliveryError): void;
}

/** The stream that the handler of a turn produces. */
export interface TurnStream {
  /** Stops the stream, because its consumer has left or cannot be told anything any more. */
  leave(): void;
}

/**
 * The things that a handler has created by calls, or by reading `context()`. Most handlers do neither, and one object for all
 * of them makes their turns smaller.
 */
class HandlerWork {
  abort: AbortController | undefined;
  timer: Timer | undefined;
  span: TraceContext | undefined;
  /** The unanswered call of the handler. Most handlers have one at a time, so further ones are in a set. */
  outstanding: OutstandingCall | undefined;
  moreOutstanding: Set<OutstandingCall> | undefined;
  chain: readonly number[] | undefined;
}

export class Turn implements AnyTurn, CallingTurn, HandlerTurn {
  readonly cell: LocalActor;
  readonly lane: Lane;
  readonly slot: number;
  /** The handler of the message, which the mailbox replaces if the message is passed on. */
  handler: Handler;
  /** The number of the call on the lane's link. 0: the caller expects no answer. */
  readonly call: number;
  readonly args: readonly unknown[];
  /** The size of the message in bytes, which its credit is counted in. */
  readonly size: number;
  readonly extension: MessageExtension | undefined;
  /** Whether the handler has returned and the call has been answered. */
  isEnded = false;
  /** Whether the caller has stopped waiting. */
  isCancelled = false;
  /** Set for endpoints that answer by a port. */
  replier: TurnReplier | undefined;
  /** Set when the handler of a streaming endpoint has started. */
  stream: TurnStream | undefined;
  scope: unknown = undefined;
  /** The time when the caller stops waiting, by the proc's clock, in milliseconds. 0: there is no limit. */
  readonly #deadline: number;
  /** Undefined as long as the handler has used none of it. */
  #work: HandlerWork | undefined;

  constructor(
    cell: LocalActor,
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
    this.#deadline = extension === undefined ? 0 : deadlineOf(cell, extension);
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

  get key(): string | undefined {
    this.#checkRunning("key");
    return this.extension?.key;
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
    const work = this.#ownWork();
    if (work.abort === undefined) {
      work.abort = new AbortController();
      if (this.isCancelled) work.abort.abort(new DeliveryError("closed", "the caller no longer waits"));
      else this.#watchDeadline(work);
    }
    return work.abort.signal;
  }

  get endpoint(): string {
    return this.handler.endpoint.name;
  }

  /** Whether the caller's timeout has passed. */
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

  /**
   * The actors that wait for the calls of this handler, as a message carries them. A concurrent handler does not make its
   * actor wait.
   */
  get chain(): readonly number[] {
    if (this.isEnded) return emptyChain;
    const work = this.#ownWork();
    work.chain ??= this.#makeChain();
    return work.chain;
  }

  /** The position in the trace of the message, or in a new trace. Messages that the handler sends follow from it. */
  get span(): TraceContext {
    const work = this.#ownWork();
    if (work.span === undefined) {
      const { traces } = this.cell.proc;
      const trace = this.extension?.trace;
      work.span = trace === undefined ? traces.newTrace() : traces.newSpan(trace);
    }
    return work.span;
  }

  /** The time in which the caller still waits, in milliseconds, at least 1. 0: there is no limit. */
  get timeLeft(): number {
    if (this.#deadline === 0 || this.isEnded || this.isCancelled) return 0;
    return Math.max(1, Math.ceil(this.#deadline - this.cell.proc.clock.now()));
  }

  /** Registers a call of the handler. It is abandoned when the caller of this turn stops waiting. */
  addOutstanding(call: OutstandingCall): void {
    // A called actor may have noticed the timeout before the timer of this turn ran.
    if (this.isExpired && !this.isCancelled) this.cancel(cancelReasons.indexOf("timeout"));
    if (this.isEnded || this.isCancelled) return;
    call.turn = this;
    const work = this.#ownWork();
    if (work.outstanding === undefined) work.outstanding = call;
    else {
      work.moreOutstanding ??= new Set();
      work.moreOutstanding.add(call);
    }
    this.#watchDeadline(work);
  }

  /** Unregisters a call of the handler that has ended. */
  removeOutstanding(call: OutstandingCall): void {
    const work = this.#work;
    if (work?.outstanding === call) work.outstanding = undefined;
    else work?.moreOutstanding?.delete(call);
  }

  /** Runs `body` as code of the handler. */
  runAsHandler(body: () => void): void {
    runInTurn(this, body);
  }

  /** The calls of the handler that have not been answered. */
  get outstandingCalls(): readonly OutstandingCall[] {
    const { outstanding, moreOutstanding = [] } = this.#work ?? {};
    return outstanding === undefined ? [...moreOutstanding] : [outstanding, ...moreOutstanding];
  }

  /**
   * Records that the caller has stopped waiting: aborts the handler's signal, and abandons its calls.
   *
   * @param reason an index of `cancelReasons`
   */
  cancel(reason: number): void {
    const { outstandingCalls } = this;
    this.isCancelled = true;
    this.#work?.timer?.cancel();
    const timeout = cancelReasons[reason] === "timeout";
    const why = `the caller of ${this.handler.endpoint.name} waits no longer${timeout ? ": its time is over" : ""}`;
    const error = (text: string) => (timeout ? new TimeoutError(text) : new DOMException(text, "AbortError"));
    const abort = this.#work?.abort;
    // The listeners of the signal are code of the handler, so they run in its turn.
    if (abort !== undefined) runInTurn(this, () => abort.abort(error(why)));
    for (const call of outstandingCalls) {
      const waited = timeout ? call.waitText : "";
      call.abandon(error(`cannot call ${call.label}: ${why}${waited}`), timeout ? reason : 0, true);
    }
    this.stream?.leave();
  }

  /** Records that the message has been handled and, if it is a call, answered. */
  end(): void {
    this.isEnded = true;
    if (this.#work !== undefined) this.#endWork(this.#work);
  }

  #endWork(work: HandlerWork): void {
    work.timer?.cancel();
    work.outstanding = undefined;
    work.moreOutstanding = undefined;
  }

  #ownWork(): HandlerWork {
    this.#work ??= new HandlerWork();
    return this.#work;
  }

  #makeChain(): readonly number[] {
    const above = this.extension?.chain ?? emptyChain;
    return this.handler.endpoint.concurrent ? above : [...above, ...this.cell.token];
  }

  /** Starts the timer that cancels the turn, unless it runs already or the caller waits without a limit. */
  #watchDeadline(work: HandlerWork): void {
    if (this.#deadline === 0 || work.timer !== undefined) return;
    const { clock } = this.cell.proc;
    work.timer = clock.after(Math.max(0, this.#deadline - clock.now()) + GRACE_MS, () => {
      if (!this.isEnded) this.cancel(cancelReasons.indexOf("timeout"));
    });
  }

  #checkRunning(what: string): void {
    if (this.isEnded) throw new Error(`cannot read context().${what}: the message has been handled already`);
  }
}

function deadlineOf({ proc }: LocalActor, { timeout }: MessageExtension): number {
  return timeout > 0 ? proc.clock.now() + timeout : 0;
}

/** Returns the caller of a turn as the holder of the ports in its answer. */
export function callerAsHolder({ lane }: Turn): PortHolder {
  const { sender } = lane;
  return { proc: sender.proc, name: holderName(sender) };
}
