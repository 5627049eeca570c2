/**
 * The dispatcher of an endpoint sends one message of the endpoint to the actors of a mesh: it checks the arguments, finds
 * the sessions of the sender, encodes the message once, and sends it to all actors or to none. The answers go to the sink
 * or the pending call that the caller passes.
 */

import { arityError } from "../../../shared/text/arity-error.js";
import type { CastSender } from "../../cast/sender/cast-sender.js";
import type { PendingCast } from "../../cast/sender/pending-cast.js";
import { AGENT_MESH } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";
import { DeliveryError } from "../../link/errors.js";
import { emptyChain } from "../../link/frame/message-extension.js";
import type { KeepAlive } from "../../link/keep-alive.js";
import { encodeMessage, encodeShared } from "../../link/outbound/encode-message.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type { MessageEncoder, OutboundMessage } from "../../link/outbound/message-sender.js";
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { Session } from "../../link/outbound/session.js";
import { parseTraceparent, type TraceContext } from "../../link/trace-context.js";
import type { Codec } from "../../wire/codec.js";
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import { protobufArguments } from "../../wire/protobuf-messages.js";
import { type AnyTurn, currentCell, currentTurn, mainRoot } from "../context.js";
import { SupervisionError, type TimeoutError } from "../errors.js";
import { portsWritten } from "../port/announce-holders.js";
import type { LocalActor } from "../reference/local-actor.js";
import { reasonSuffix } from "../reference/mesh-record.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import { Sent, sentNow } from "../sent.js";
import type { AnswerSink, CastAnswerSink } from "./answer-sink.js";
import { type CalledEndpoint, supervisionError } from "./call-future.js";
import { type CallOptions, noAnswerError } from "./call-guard.js";
import { deadlockError, messageExtension, noAnswer, timeLimit, wouldDeadlock } from "./caller-state.js";
import { checkTimeout } from "./future.js";
import { allRanks, announceReceivers, announceReceiversOfSessions, openSession, openSessions } from "./receivers.js";
import { fitsTree, usesTree } from "./tree-dispatch.js";

/** The options of `endpoint.with`, and what a call has from its caller in another program. */
export interface DispatchOptions extends CallOptions {
  /** The actors that wait for the answer, two words each, outermost first. Default: those of the running handler. */
  readonly chain?: readonly number[];
}

export class Dispatcher implements OutboundMessage, CalledEndpoint {
  /** The mesh and the endpoint: `counters.increment`. */
  readonly label: string;
  readonly codec: MessageEncoder;
  readonly result: Codec<unknown> | undefined;
  readonly view: MeshView;
  readonly descriptor: EndpointDescriptor;
  readonly options: DispatchOptions;
  /** The timeout of calls in milliseconds. 0: they have none. */
  readonly timeout: number;
  /** Whether the options of the calls can delay them or repeat them. */
  readonly isDeferrable: boolean;
  /** Whether the timeout is 0 ms, so that calls fail without being sent. */
  readonly #hasNoTime: boolean;
  readonly #index: number;
  /** The trace of the calls, whichever handler makes them. Undefined: the trace of the running handler. */
  readonly #fixedTrace: TraceContext | undefined;
  /** The sender that `#session` belongs to. Undefined if there is none, or if it leads to another rank than 0. */
  #sender: LocalActor | undefined;
  /** The session that was used last, cached for meshes of one actor. */
  #session: Session | undefined;
  #slot = 0;

  constructor(view: MeshView, index: number, options: DispatchOptions) {
    const descriptor = view.descriptor.endpoints[index]!;
    this.view = view;
    this.descriptor = descriptor;
    this.options = options;
    this.timeout = wholeTimeout(options.timeout ?? descriptor.timeout);
    this.isDeferrable = options.retry !== undefined || options.wait === true;
    this.#hasNoTime = options.timeout === 0;
    this.label = `${view.record.name}.${descriptor.name}`;
    this.codec = descriptor.args;
    this.result = descriptor.result;
    this.#index = index;
    const { traceparent } = options;
    this.#fixedTrace = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  }

  get protobuf(): MessageEncoder {
    return protobufArguments(this.descriptor.args);
  }

  get clock(): Clock {
    return mainRoot().proc.clock;
  }

  get isInternal(): boolean {
    return this.view.record.id === AGENT_MESH;
  }

  /** Keeps the caller's process alive while a call of the running code waits. */
  get keepAlive(): KeepAlive {
    return currentCell().proc.keepAlive;
  }

  /**
   * @throws {TypeError} when the number of arguments is wrong
   * @throws {SupervisionError} when the mesh was stopped
   */
  check(args: readonly unknown[]): void {
    const { minArgs, maxArgs } = this.descriptor;
    if (args.length < minArgs || args.length > maxArgs) throw arityError(this.label, minArgs, maxArgs, args.length);
    const { stopReason, name } = this.view.record;
    if (stopReason === undefined) return;
    const ranks = allRanks(this.view);
    const why = `mesh "${name}" was stopped${reasonSuffix(stopReason)}`;
    throw new SupervisionError(this.label, ranks, why, { actors: this.view.actorNames(ranks) });
  }

  /**
   * Sends a call to the actor at `rank`.
   *
   * @param call receives the answer
   * @param outstanding is registered with the running handler, which waits for it
   * @returns the error that the call fails with if it cannot be sent
   * @throws rethrows errors of the codec and of the session; then nothing has been sent
   */
  callOne(args: readonly unknown[], rank: number, call: PendingCall, outstanding: OutstandingCall): Error | undefined {
    const turn = currentTurn();
    const sender = turn === undefined ? mainRoot() : turn.cell;
    const { view } = this;
    if (this.#hasNoTime) return this.#refuseWithoutTime(args, sender, [rank]);
    let session = this.#session;
    if (session === undefined || this.#sender !== sender || session.ended !== undefined || rank !== 0) {
      const opened = this.#openCached(sender, rank);
      if (opened instanceof DeliveryError) {
        this.#encodeForNobody(sender, args, [rank]);
        return supervisionError(this, rank, opened);
      }
      session = opened;
    }
    if (turn !== undefined && wouldDeadlock(turn, view, rank)) return deadlockError(this.label, turn, view, rank);
    const limit = timeLimit(this.timeout, turn);
    const extension = messageExtension(
      view,
      session,
      rank,
      turn,
      limit,
      this.#fixedTrace ?? turn?.span,
      this.options.chain,
    );
    session.call(this.#slot, this, args, call, extension);
    if (turn !== undefined) turn.addOutstanding(outstanding);
    if (portsWritten.length > 0) announceReceivers(sender, view, [rank]);
    return undefined;
  }

  /**
   * Sends a call to all actors.
   *
   * @returns the error that the call fails with if it cannot be sent to any actor
   * @throws rethrows errors of the codec and of the sessions; then nothing has been sent
   */
  callAll(args: readonly unknown[], sink: AnswerSink): Error | undefined {
    const { view } = this;
    const { size } = view;
    if (size === 1) return this.callOne(args, 0, sink.callAt(0), sink);
    const turn = currentTurn();
    const sender = turn === undefined ? mainRoot() : turn.cell;
    if (this.#hasNoTime) return this.#refuseWithoutTime(args, sender, allRanks(view));
    if (turn !== undefined) {
      for (let rank = 0; rank < size; rank++) {
        if (wouldDeadlock(turn, view, rank)) return deadlockError(this.label, turn, view, rank);
      }
    }
    const { castSink } = sink;
    if (castSink !== undefined && usesTree(sender, view)) {
      const body = this.#encodeForTree(args, sender);
      if (body !== undefined) {
        const { castSender, cast } = this.#castByTree(body, sender, turn, castSink, undefined);
        castSink.castStarted((reason) => castSender.cancel(cast, reason), sender.ports);
        if (turn !== undefined) turn.addOutstanding(sink);
        return undefined;
      }
    }
    const sessions = openSessions(sender, view);
    const body = encodeShared(this, args, sender.proc.limits, this.#needsProtobuf(sessions));
    try {
      for (const session of sessions) if (!(session instanceof DeliveryError)) session.checkRoom(body.size, this.label);
      const limit = timeLimit(this.timeout, turn);
      const trace = this.#sharedTrace(sender, turn);
      for (let rank = 0; rank < size; rank++) {
        const session = sessions[rank]!;
        if (session instanceof DeliveryError) continue;
        const extension = messageExtension(view, session, rank, turn, limit, trace);
        session.post(this.#slotOf(session), body, extension, sink.callAt(rank), undefined);
      }
    } finally {
      body.release();
    }
    if (turn !== undefined) turn.addOutstanding(sink);
    if (portsWritten.length > 0) announceReceiversOfSessions(sender, view, sessions);
    // A failure can end the call at once, so all messages are sent first.
    for (let rank = 0; rank < size; rank++) {
      const session = sessions[rank]!;
      if (session instanceof DeliveryError) sink.failed(rank, session);
    }
    return undefined;
  }

  /**
   * Sends a message without an answer to all actors.
   *
   * @throws rethrows errors of the codec and of the sessions; then nothing has been sent
   */
  cast(args: readonly unknown[]): Sent {
    const turn = currentTurn();
    const sender = turn === undefined ? mainRoot() : turn.cell;
    return this.view.size === 1 ? this.#castOne(args, 0, sender, turn) : this.#castAll(args, sender, turn);
  }

  /**
   * Sends a message without an answer to the actor at `rank`.
   *
   * @throws rethrows errors of the codec and of the session; then nothing has been sent
   */
  castOne(args: readonly unknown[], rank: number): Sent {
    const turn = currentTurn();
    return this.#castOne(args, rank, turn === undefined ? mainRoot() : turn.cell, turn);
  }

  /**
   * Encodes a message that is sent later, so that wrong arguments are reported now.
   *
   * @throws rethrows errors of the codec
   */
  checkEncodable(args: readonly unknown[]): void {
    // An interceptor encodes arguments for known receivers only.
    if (this.descriptor.interceptor !== undefined) return;
    encodeMessage(this, args, mainRoot().proc.limits);
    portsWritten.length = 0;
  }

  #castOne(args: readonly unknown[], rank: number, sender: LocalActor, turn: AnyTurn | undefined): Sent {
    let session = this.#session;
    if (session === undefined || this.#sender !== sender || session.ended !== undefined || rank !== 0) {
      const opened = this.#openCached(sender, rank);
      if (opened instanceof DeliveryError) {
        this.#encodeForNobody(sender, args, [rank]);
        sender.undeliverable(this.label, opened);
        return sentNow;
      }
      session = opened;
    }
    const sent = session.hasCredit ? sentNow : new Sent(1);
    const extension = messageExtension(this.view, session, rank, turn, noAnswer, this.#fixedTrace ?? turn?.span);
    session.cast(this.#slot, 0, this, args, sent, extension);
    if (portsWritten.length > 0) announceReceivers(sender, this.view, [rank]);
    return sent;
  }

  #castAll(args: readonly unknown[], sender: LocalActor, turn: AnyTurn | undefined): Sent {
    const { view } = this;
    if (usesTree(sender, view)) {
      const body = this.#encodeForTree(args, sender);
      if (body !== undefined) {
        const sent = sender.outbound.castSender(view.record).hasCredit(view.castView) ? sentNow : new Sent(1);
        this.#castByTree(body, sender, turn, undefined, sent === sentNow ? undefined : sent);
        return sent;
      }
    }
    const sessions = openSessions(sender, view);
    const body = encodeShared(this, args, sender.proc.limits, this.#needsProtobuf(sessions));
    let sent: Sent;
    try {
      const open = sessions.filter((session): session is Session => !(session instanceof DeliveryError));
      for (const session of open) session.checkRoom(body.size, this.label);
      sent = open.every((session) => session.hasCredit) ? sentNow : new Sent(open.length);
      const trace = this.#sharedTrace(sender, turn);
      for (const [rank, session] of sessions.entries()) {
        if (session instanceof DeliveryError) sender.undeliverable(this.label, session);
        else {
          const extension = messageExtension(view, session, rank, turn, noAnswer, trace);
          session.post(this.#slotOf(session), body, extension, undefined, sent === sentNow ? undefined : sent);
        }
      }
    } finally {
      body.release();
    }
    if (portsWritten.length > 0) announceReceiversOfSessions(sender, view, sessions);
    return sent;
  }

  /** Encodes a message for a cast. Returns undefined if the message is too large for one. */
  #encodeForTree(args: readonly unknown[], sender: LocalActor): EncodedMessage | undefined {
    const { view } = this;
    const protobuf = sender.outbound.castSender(view.record).needsProtobuf(view.castView);
    const body = encodeMessage(this, args, sender.proc.limits, protobuf);
    if (fitsTree(body, sender, view)) return body;
    portsWritten.length = 0;
    return undefined;
  }

  /** @throws {BackpressureError} */
  #castByTree(
    body: EncodedMessage,
    sender: LocalActor,
    turn: AnyTurn | undefined,
    sink: CastAnswerSink | undefined,
    waiter: Sent | undefined,
  ): { readonly castSender: CastSender; readonly cast: PendingCast } {
    const { view } = this;
    const castSender = sender.outbound.castSender(view.record);
    castSender.checkRoom(body.size, this.label);
    const timeout = sink === undefined ? 0 : timeLimit(this.timeout, turn);
    const chain = sink === undefined ? emptyChain : (turn?.chain ?? emptyChain);
    const extension = { timeout, trace: this.#sharedTrace(sender, turn), chain };
    const reduction = sink?.reduction ?? "";
    const request = { label: this.label, endpoint: this.#index, body, reduction, extension, sink, waiter };
    const cast = castSender.cast(view.castView, request);
    if (portsWritten.length > 0) announceReceivers(sender, view, allRanks(view));
    return { castSender, cast };
  }

  #openCached(sender: LocalActor, rank: number): Session | DeliveryError {
    const session = openSession(sender, this.view, rank);
    if (session instanceof DeliveryError) return session;
    this.#slot = this.#slotOf(session);
    this.#sender = rank === 0 ? sender : undefined;
    this.#session = session;
    return session;
  }

  #slotOf(session: Session): number {
    return session.slotOf(this.view.descriptor) + this.#index;
  }

  /** Returns whether a receiver has another schema, so that the message is sent in the layout that all receivers read. */
  #needsProtobuf(sessions: readonly (Session | DeliveryError)[]): boolean {
    return sessions.some(
      (session) => !(session instanceof DeliveryError) && session.maySchemaDiffer && this.#differs(session),
    );
  }

  #differs(session: Session): boolean {
    return session.needsProtobuf(this.#slotOf(session));
  }

  /** Returns the trace that all receivers of one message share. It is a new one if the sender has none. */
  #sharedTrace(sender: LocalActor, turn: AnyTurn | undefined): TraceContext {
    return this.#fixedTrace ?? turn?.span ?? sender.proc.traces.newTrace();
  }

  /**
   * Encodes a message that is not sent, because its receivers are dead. Wrong arguments are reported all the same, and
   * the ports in the message have no holders.
   */
  #encodeForNobody(sender: LocalActor, args: readonly unknown[], ranks: readonly number[]): void {
    encodeMessage(this, args, sender.proc.limits);
    if (portsWritten.length > 0) announceReceivers(sender, this.view, [], ranks);
  }

  #refuseWithoutTime(args: readonly unknown[], sender: LocalActor, ranks: readonly number[]): TimeoutError {
    this.#encodeForNobody(sender, args, ranks);
    return noAnswerError(this.label, 0);
  }
}

/** Returns a timeout as messages carry it: whole milliseconds, at least 1, or 0 for no limit. */
function wholeTimeout(timeout: number | undefined): number {
  const limit = checkTimeout(timeout);
  return limit === undefined ? 0 : Math.max(1, Math.ceil(limit));
}
