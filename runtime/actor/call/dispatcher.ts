/**
 * How one message of an endpoint goes to the actors of a mesh: checks what can be checked, finds the sessions of the
 * sender, encodes once, and sends to all or to none. What becomes of the answers is their target's concern.
 */
import type { CastSender } from "../../cast/sender/cast-sender.js";
import type { CastSink, PendingCast } from "../../cast/sender/pending-cast.js";
import { AGENT_MESH } from "../../link/address.js";
import type { Clock } from "../../link/clock.js";
import { DeliveryError } from "../../link/errors.js";
import { emptyChain, isInChain, type MessageExtension, WHOLE_MESH } from "../../link/frame/message-extension.js";
import type { KeepAlive } from "../../link/keep-alive.js";
import type { EncodedMessage } from "../../link/outbound/credit-queue.js";
import { encodeMessage } from "../../link/outbound/encode-message.js";
import type { PendingCall } from "../../link/outbound/pending-calls.js";
import type { MessageEncoder, OutboundMessage, Session } from "../../link/outbound/session.js";
import { parseTraceparent, type TraceContext } from "../../link/trace-context.js";
import type { Codec } from "../../wire/codec.js";
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import { protobufArguments } from "../../wire/protobuf-messages.js";
import { type AnyTurn, currentTurn, mainRoot } from "../context.js";
import { DeadlockError, SupervisionError, type TimeoutError } from "../errors.js";
import { announceHolders, holderName, portsWritten } from "../port/announce-holders.js";
import type { LocalActor } from "../reference/local-actor.js";
import { reasonSuffix } from "../reference/mesh-record.js";
import type { MeshView } from "../reference/mesh-view.js";
import type { PortOwner } from "../reference/open-port.js";
import type { OutstandingCall } from "../reference/outstanding-call.js";
import { Sent, sentNow } from "../sent.js";
import { type CalledEndpoint, supervisionError } from "./call-future.js";
import { type CallOptions, noAnswerError } from "./call-guard.js";
import { checkTimeout } from "./future.js";
import { drawLivingRank, restartOfAllRanks, restartOfAnyRank, restartOfEachRank } from "./living-ranks.js";
import type { RankCall, RankCallOwner } from "./rank-call.js";

/** Who waits for the answers of all ranks. */
export interface AnswerSink extends RankCallOwner, OutstandingCall {
  /** The call to one rank; asked for once, when it is being sent. */
  callAt(rank: number): RankCall;
  /** How the call goes to many actors at once; undefined: to each of them by itself. */
  readonly castSink?: CastAnswerSink;
}

/** Which ranks a call needs: all of them, each one that is not lost, or any one. */
export type RanksNeeded = "all" | "each" | "any";

/** Who waits for the answers to a cast. */
export interface CastAnswerSink extends CastSink {
  /** How procs on the way make answers one, by name; empty: they do not. */
  readonly reduction: string;
  /** It is on its way: how it is given up, and who holds what is in the answers. */
  castStarted(cancel: (reason: number) => void, ports: PortOwner): void;
}

/** More than what a cast needs besides its message, but for its places: 12 bytes for each rank, at most. */
const CAST_OVERHEAD = 64 * 1024;

export class Dispatcher implements OutboundMessage, CalledEndpoint {
  /** `counters.increment`. */
  readonly label: string;
  readonly codec: MessageEncoder;
  readonly result: Codec<unknown> | undefined;
  readonly view: MeshView;
  readonly descriptor: EndpointDescriptor;
  readonly options: CallOptions;
  /** In milliseconds; 0: none. */
  readonly timeout: number;
  /** Whether a call may be sent later than it is made, or again. */
  readonly isDeferrable: boolean;
  /** Calls have no time at all: they fail, and nothing is sent. */
  readonly #hasNoTime: boolean;
  readonly #index: number;
  /** That its calls belong to, whoever makes them. */
  readonly #fixedTrace: TraceContext | undefined;
  /** Of a mesh of one actor: the session that was used last, and by whom. */
  #sender: LocalActor | undefined;
  #session: Session | undefined;
  #slot = 0;

  constructor(view: MeshView, index: number, options: CallOptions) {
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
    return currentSender().proc.keepAlive;
  }

  /** @throws TypeError on the wrong number of arguments, SupervisionError if the mesh was stopped */
  check(args: readonly unknown[]): void {
    const { minArgs, maxArgs } = this.descriptor;
    if (args.length < minArgs || args.length > maxArgs) refuseArity(this.label, minArgs, maxArgs, args.length);
    const { stopReason, name } = this.view.record;
    if (stopReason === undefined) return;
    const ranks = this.#allRanks();
    const why = `mesh "${name}" was stopped${reasonSuffix(stopReason)}`;
    throw new SupervisionError(this.label, ranks, why, { actors: this.view.actorNames(ranks) });
  }

  /**
   * Sends a call to the actor at `rank`.
   * @param under what the running handler waits for
   * @returns why not, if it can't be sent; the call fails with that
   * @throws what the codec and the session throw: then nothing has been sent
   */
  callOne(args: readonly unknown[], rank: number, call: PendingCall, under: OutstandingCall): Error | undefined {
    const turn = currentTurn();
    const sender = turn === undefined ? mainRoot() : turn.cell;
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
    if (turn !== undefined && this.#wouldDeadlock(turn, rank)) return this.#deadlockError(turn, rank);
    const extension = this.#extension(session, rank, turn, this.#timeToWait(turn), turn?.span);
    session.call(this.#slot, this, args, call, extension);
    if (turn !== undefined) turn.addOutstanding(under);
    if (portsWritten.length > 0) this.#announceHolders(sender, [rank]);
    return undefined;
  }

  /**
   * Sends a call to all actors.
   * @returns why not, if none of it was sent
   * @throws what the codec and the sessions throw: then nothing has been sent
   */
  callAll(args: readonly unknown[], sink: AnswerSink): Error | undefined {
    const { size } = this.view;
    if (size === 1) return this.callOne(args, 0, sink.callAt(0), sink);
    const turn = currentTurn();
    const sender = turn === undefined ? mainRoot() : turn.cell;
    if (this.#hasNoTime) return this.#refuseWithoutTime(args, sender, this.#allRanks());
    if (turn !== undefined) {
      for (let rank = 0; rank < size; rank++) {
        if (this.#wouldDeadlock(turn, rank)) return this.#deadlockError(turn, rank);
      }
    }
    const { castSink } = sink;
    if (castSink !== undefined && this.#usesTree(sender)) {
      const body = this.#encodeCast(args, sender);
      if (this.#fitsTree(body, sender)) {
        const { caster, cast } = this.#castByTree(body, sender, turn, castSink, undefined);
        castSink.castStarted((reason) => caster.cancel(cast, reason), sender.ports);
        if (turn !== undefined) turn.addOutstanding(sink);
        return undefined;
      }
    }
    const sessions = this.#openAll(sender);
    const body = encodeMessage(this, args, sender.proc.limits, this.#needsProtobuf(sessions));
    for (const session of sessions) if (!(session instanceof DeliveryError)) session.checkRoom(body.size, this.label);
    const time = this.#timeToWait(turn);
    const trace = this.#castTrace(sender, turn);
    for (let rank = 0; rank < size; rank++) {
      const session = sessions[rank]!;
      if (session instanceof DeliveryError) continue;
      const slot = this.#slotOf(session);
      session.post(slot, body, this.#extension(session, rank, turn, time, trace), sink.callAt(rank), undefined);
    }
    if (turn !== undefined) turn.addOutstanding(sink);
    if (portsWritten.length > 0) this.#announceHoldersOfSessions(sender, sessions);
    // A failure may end the call at once: after all messages have been sent.
    for (let rank = 0; rank < size; rank++) {
      const session = sessions[rank]!;
      if (session instanceof DeliveryError) sink.failed(rank, session);
    }
    return undefined;
  }

  /** Sends a message that nobody answers to all actors. @throws what the codec and the sessions throw: then nothing has been sent */
  cast(args: readonly unknown[]): Sent {
    const turn = currentTurn();
    const sender = turn === undefined ? mainRoot() : turn.cell;
    return this.view.size === 1 ? this.#castOne(args, sender, turn) : this.#castAll(args, sender, turn);
  }

  /** The rank with less under way, from the current sender, of two living ones drawn at random. */
  lessLoadedRank(): number {
    const sender = currentSender();
    const load = (rank: number): number => sender.outbound.knownSession(this.view.target(rank))?.load ?? 0;
    const a = drawLivingRank(this.view, sender);
    const b = drawLivingRank(this.view, sender);
    return load(b) < load(a) ? b : a;
  }

  /** Encodes a message that is sent later, so that what is wrong with it is said now. @throws what the codec throws */
  checkEncodable(args: readonly unknown[]): void {
    // Encoding a tensor lends it to its receiver.
    if (this.descriptor.tensors !== undefined) return;
    encodeMessage(this, args, mainRoot().proc.limits);
    portsWritten.length = 0;
  }

  /** Resolves when what keeps a call from being sent now may be over. @returns undefined if nothing does */
  pendingRestart(needed: RanksNeeded): Promise<unknown> | undefined {
    const sender = currentSender();
    if (needed === "any") return restartOfAnyRank(this.view, sender);
    return needed === "each" ? restartOfEachRank(this.view, sender) : restartOfAllRanks(this.view, sender);
  }

  #castOne(args: readonly unknown[], sender: LocalActor, turn: AnyTurn | undefined): Sent {
    let session = this.#session;
    if (session === undefined || this.#sender !== sender || session.ended !== undefined) {
      const opened = this.#openCached(sender, 0);
      if (opened instanceof DeliveryError) {
        this.#encodeForNobody(sender, args, [0]);
        sender.undeliverable(this.label, opened);
        return sentNow;
      }
      session = opened;
    }
    const sent = session.hasCredit ? sentNow : new Sent(1);
    session.cast(this.#slot, 0, this, args, sent, this.#extension(session, 0, turn, noAnswer, turn?.span));
    if (portsWritten.length > 0) this.#announceHolders(sender, [0]);
    return sent;
  }

  /**
   * Agents are spoken to by those who have made their procs: who have links to all of them, from before they listen. Threads and inline
   * procs listen nowhere, so everything between them goes through their maker: from there a tree would only be a detour.
   */
  #usesTree({ proc, outbound }: LocalActor): boolean {
    const { record, size } = this.view;
    if (size <= proc.limits.treeAbove || record.id === AGENT_MESH || outbound.ended !== undefined) return false;
    return record.owner !== proc.id || this.view.target(0).location !== "";
  }

  /** Down a tree. @throws BackpressureError */
  #castByTree(
    body: EncodedMessage,
    sender: LocalActor,
    turn: AnyTurn | undefined,
    sink: CastAnswerSink | undefined,
    waiter: Sent | undefined,
  ): { readonly caster: CastSender; readonly cast: PendingCast } {
    const caster = sender.outbound.castSender(this.view.record);
    caster.checkRoom(body.size, this.label);
    const timeout = sink === undefined ? 0 : this.#timeToWait(turn);
    const chain = sink === undefined ? emptyChain : (turn?.chain ?? emptyChain);
    const extension = { timeout, trace: this.#castTrace(sender, turn), chain };
    const reduction = sink?.reduction ?? "";
    const request = { label: this.label, endpoint: this.#index, body, reduction, extension, sink, waiter };
    const cast = caster.cast(this.view.castView, request);
    if (portsWritten.length > 0) this.#announceHolders(sender, this.#allRanks());
    return { caster, cast };
  }

  #encodeCast(args: readonly unknown[], sender: LocalActor): EncodedMessage {
    const protobuf = sender.outbound.castSender(this.view.record).needsProtobuf(this.view.castView);
    return encodeMessage(this, args, sender.proc.limits, protobuf);
  }

  /** What fits into a frame by itself, and not with what a cast needs besides it, goes to each actor by itself. */
  #fitsTree({ size }: EncodedMessage, sender: LocalActor): boolean {
    if (size + CAST_OVERHEAD + this.view.size * 12 <= sender.proc.limits.maxFrame) return true;
    portsWritten.length = 0;
    return false;
  }

  #castAll(args: readonly unknown[], sender: LocalActor, turn: AnyTurn | undefined): Sent {
    if (this.#usesTree(sender)) {
      const body = this.#encodeCast(args, sender);
      if (this.#fitsTree(body, sender)) {
        const sent = sender.outbound.castSender(this.view.record).hasCredit(this.view.castView) ? sentNow : new Sent(1);
        this.#castByTree(body, sender, turn, undefined, sent === sentNow ? undefined : sent);
        return sent;
      }
    }
    const sessions = this.#openAll(sender);
    const body = encodeMessage(this, args, sender.proc.limits, this.#needsProtobuf(sessions));
    const open = sessions.filter((session): session is Session => !(session instanceof DeliveryError));
    for (const session of open) session.checkRoom(body.size, this.label);
    const sent = open.every((session) => session.hasCredit) ? sentNow : new Sent(open.length);
    const trace = this.#castTrace(sender, turn);
    for (const [rank, session] of sessions.entries()) {
      if (session instanceof DeliveryError) sender.undeliverable(this.label, session);
      else {
        const extension = this.#extension(session, rank, turn, noAnswer, trace);
        session.post(this.#slotOf(session), body, extension, undefined, sent === sentNow ? undefined : sent);
      }
    }
    if (portsWritten.length > 0) this.#announceHoldersOfSessions(sender, sessions);
    return sent;
  }

  #openCached(sender: LocalActor, rank: number): Session | DeliveryError {
    const session = openSession(sender, this.view, rank);
    if (session instanceof DeliveryError) return session;
    this.#slot = this.#slotOf(session);
    this.#sender = rank === 0 ? sender : undefined;
    this.#session = session;
    return session;
  }

  #openAll(sender: LocalActor): (Session | DeliveryError)[] {
    const sessions: (Session | DeliveryError)[] = [];
    for (let rank = 0; rank < this.view.size; rank++) sessions.push(openSession(sender, this.view, rank));
    return sessions;
  }

  #slotOf(session: Session): number {
    return session.slotOf(this.view.descriptor) + this.#index;
  }

  /** One of the receivers has another schema: all can read the layout that it can. */
  #needsProtobuf(sessions: readonly (Session | DeliveryError)[]): boolean {
    return sessions.some(
      (session) => !(session instanceof DeliveryError) && session.maySchemaDiffer && this.#differs(session),
    );
  }

  #differs(session: Session): boolean {
    return session.needsProtobuf(this.#slotOf(session));
  }

  #wouldDeadlock(turn: AnyTurn, rank: number): boolean {
    const { chain } = turn;
    return chain.length > 0 && isInChain(chain, this.view.target(rank).token);
  }

  #deadlockError(turn: AnyTurn, rank: number): DeadlockError {
    const target = this.view.target(rank);
    const actor = `${this.view.record.name}[${target.rank}]`;
    return new DeadlockError(
      `cannot call ${this.label} from ${turn.cell.name}: ${actor} waits for the answer of this call chain itself; ` +
        "make the endpoint that called out @concurrent, or use broadcast",
    );
  }

  /** For how long an answer is waited: no longer than for that of the handler that calls. In milliseconds; 0: no limit. */
  #timeToWait(turn: AnyTurn | undefined): number {
    const left = turn === undefined ? 0 : turn.timeLeft;
    return left === 0 || (this.timeout !== 0 && this.timeout < left) ? this.timeout : left;
  }

  /** All receivers of one message belong to one trace, also where it begins with that. */
  #castTrace(sender: LocalActor, turn: AnyTurn | undefined): TraceContext {
    return this.#fixedTrace ?? turn?.span ?? sender.proc.traces.newTrace();
  }

  /** @param timeout `noAnswer`: nobody waits */
  #extension(
    session: Session,
    rank: number,
    turn: AnyTurn | undefined,
    timeout: number,
    trace: TraceContext | undefined,
  ): MessageExtension | undefined {
    const { isWholeMesh, extent } = this.view;
    const own = this.#fixedTrace ?? trace;
    if (isWholeMesh && timeout <= 0 && turn === undefined && own === undefined) return undefined;
    return {
      rank,
      extent: isWholeMesh ? WHOLE_MESH : session.link.numberOfExtent(extent),
      timeout: timeout === noAnswer ? 0 : timeout,
      trace: own,
      chain: timeout === noAnswer ? emptyChain : (turn?.chain ?? emptyChain),
    };
  }

  /** A message that nobody is there for: what is wrong with it is said all the same, and its ports reach nobody. */
  #encodeForNobody(sender: LocalActor, args: readonly unknown[], ranks: readonly number[]): void {
    encodeMessage(this, args, sender.proc.limits);
    if (portsWritten.length > 0) this.#announceHolders(sender, [], ranks);
  }

  #refuseWithoutTime(args: readonly unknown[], sender: LocalActor, ranks: readonly number[]): TimeoutError {
    this.#encodeForNobody(sender, args, ranks);
    return noAnswerError(this.label, 0);
  }

  #announceHoldersOfSessions(sender: LocalActor, sessions: readonly (Session | DeliveryError)[]): void {
    const ranks = [...sessions.keys()];
    const isOpen = (rank: number) => !(sessions[rank] instanceof DeliveryError);
    this.#announceHolders(
      sender,
      ranks.filter(isOpen),
      ranks.filter((rank) => !isOpen(rank)),
    );
  }

  /** The ports in the message are now held by those it was sent to. */
  #announceHolders(sender: LocalActor, ranks: readonly number[], unreachable: readonly number[] = []): void {
    const holderAt = (rank: number) => {
      const { proc, mesh, rank: own, generation } = this.view.target(rank);
      return { proc, name: holderName({ mesh: mesh.id, rank: own, incarnation: generation }) };
    };
    announceHolders(sender.proc, ranks.map(holderAt), unreachable.map(holderAt));
  }

  #allRanks(): number[] {
    return Array.from({ length: this.view.size }, (_, rank) => rank);
  }
}

function currentSender(): LocalActor {
  return currentTurn()?.cell ?? mainRoot();
}

/** In place of a time to wait. */
const noAnswer = -1;

/** As it travels: whole milliseconds, at least one where there is a limit, 0 for none. */
function wholeTimeout(timeout: number | undefined): number {
  const limit = checkTimeout(timeout);
  return limit === undefined ? 0 : Math.max(1, Math.ceil(limit));
}

function openSession(sender: LocalActor, view: MeshView, rank: number): Session | DeliveryError {
  const target = view.target(rank);
  try {
    return sender.outbound.session(target, target, target.location);
  } catch (error) {
    if (error instanceof DeliveryError) return error;
    throw error;
  }
}

function refuseArity(label: string, min: number, max: number, got: number): never {
  const expected = min === max ? `${max}` : `${min} to ${max}`;
  throw new TypeError(`cannot call ${label}: expected ${expected} argument${expected === "1" ? "" : "s"}, got ${got}`);
}
