/**
 * The mailbox of an actor: messages in the order in which they came, handled strictly one at a time, also across awaits.
 * A concurrent message starts at its place in the queue and does not hold up what follows; if its endpoint handles a limited
 * number at once, it may have to wait for one of those. Life and death of the actor are the cell's concern.
 */
import type { Clock } from "../../link/clock.js";
import type { DeliveryError } from "../../link/errors.js";
import { emptyChain, isInChain } from "../../link/frame/message-extension.js";
import type { Lane } from "../../link/inbound/lane.js";
import { runInTurn } from "../context.js";
import {
  abandonedBeforeStart,
  answerInterrupted,
  answerUndelivered,
  answerWithError,
  answerWithValue,
  bounce,
} from "./answer.js";
import { ConcurrencyLimits } from "./concurrency-limits.js";
import { invokeHandler, promiseFrom } from "./invoke.js";
import { Replier } from "./replier.js";
import { StreamProducer } from "./stream-producer.js";
import type { Turn } from "./turn.js";
import type { Watchdog } from "./watchdog.js";

/** Messages taken from the queue in a row before the event loop gets its turn. */
const STREAK = 64;

/** Somebody wants to know when everything that has come before has been handled. */
interface HandledMark {
  /** The last message that had come. */
  readonly last: Turn;
  readonly notify: () => void;
  /** The message has left the queue. */
  isDequeued: boolean;
}

/** What the mailbox tells its cell. */
export interface MailboxOwner {
  /** For people: `counters[1]`. */
  readonly name: string;
  /** A handler threw where nobody waits for the answer. */
  messageFailed(turn: Turn, error: unknown): void;
}

export class Mailbox {
  readonly #owner: MailboxOwner;
  readonly #clock: Clock;
  #queue: Turn[] = [];
  #head = 0;
  /** The message being handled, unless it is a concurrent one. */
  #serial: Turn | undefined;
  /** Concurrent messages being handled. */
  #concurrent: Set<Turn> | undefined;
  /** The limits of endpoints that handle a limited number of messages at once. */
  #limits: ConcurrencyLimits | undefined;
  /** Calls whose handlers have ended and whose answers will come by port. */
  #repliers: Set<Replier> | undefined;
  #isOpen = false;
  #streak = 0;
  readonly #watchdog: Watchdog | undefined;
  /** The queue goes on in a later turn of the event loop, or is being worked on further up the stack. */
  #isScheduled = false;
  #idleWaiters: (() => void)[] | undefined;
  /** The marks are in the order of their messages. */
  #marks: HandledMark[] | undefined;
  #serialReturned: ((value: unknown) => void) | undefined;
  #serialThrew: ((error: unknown) => void) | undefined;

  /** @param watchdog undefined: handlers may take as long as they do */
  constructor(owner: MailboxOwner, clock: Clock, watchdog: Watchdog | undefined) {
    this.#owner = owner;
    this.#clock = clock;
    this.#watchdog = watchdog;
  }

  /** Messages that wait. */
  get length(): number {
    return this.#queued + (this.#limits?.length ?? 0);
  }

  get #queued(): number {
    return this.#queue.length - this.#head;
  }

  get #waiting(): Turn[] {
    const queued = this.#queue.slice(this.#head);
    return this.#limits === undefined ? queued : [...this.#limits.waiting, ...queued];
  }

  /** Calls that are being handled or wait, and that nobody has answered. */
  get calls(): readonly Turn[] {
    return this.#allTurns().filter(({ call, isEnded }) => call !== 0 && !isEnded);
  }

  /** Whether an actor waits for the answer of a message that waits here. */
  isAwaitedBy(token: readonly [number, number]): boolean {
    return this.#waiting.some((turn) => isInChain(turn.extension?.chain ?? emptyChain, token));
  }

  /** Nothing waits and nothing is being handled, and no call waits for an answer by port. */
  get isIdle(): boolean {
    if (this.#serial !== undefined || this.length > 0 || (this.#concurrent?.size ?? 0) > 0) return false;
    return ![...(this.#repliers ?? [])].some(({ turn }) => turn.call !== 0);
  }

  /** Takes a message: handles it at once if nothing is before it. */
  add(turn: Turn): void {
    // Nothing waits then: the queue goes on whenever a handler ends.
    if (this.#isOpen && this.#serial === undefined && !this.#isScheduled) this.#start(turn);
    else this.#queue.push(turn);
  }

  /** Starts handling; messages have been waiting until now. */
  open(): void {
    this.#isOpen = true;
    this.#next();
  }

  /** Resolves when everything that is here has been handled, and answered by port. */
  whenDrained(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idleWaiters ??= [];
      this.#idleWaiters.push(resolve);
    });
  }

  /**
   * Calls `then` when everything that is here has been handled, messages of concurrent endpoints when they have been started;
   * maybe at once.
   */
  afterHandling(notify: () => void): void {
    const queued = this.#queued > 0;
    const last = queued ? this.#queue.at(-1) : this.#serial;
    if (last === undefined) notify();
    else {
      this.#marks ??= [];
      this.#marks.push({ last, notify, isDequeued: !queued });
    }
  }

  /** The caller of a message waits no more: one that has not started will not. */
  cancel(lane: Lane, call: number, reason: number): void {
    for (const turn of this.#allTurns()) if (turn.lane === lane && turn.call === call) turn.cancel(reason);
  }

  /** The callers behind a lane are gone. Messages that are no calls are handled all the same. */
  cancelLane(lane: Lane, reason: number): void {
    for (const turn of this.#allTurns()) if (turn.lane === lane && turn.call !== 0) turn.cancel(reason);
  }

  /** Ends everything: what waits comes back, what runs is answered with `error` and otherwise left alone. */
  close(error: DeliveryError): void {
    const running = this.#runningTurns();
    const waiting = this.#waiting;
    this.#isOpen = false;
    this.#queue = [];
    this.#head = 0;
    this.#serial = undefined;
    this.#concurrent = undefined;
    this.#limits = undefined;
    this.#watchdog?.close();
    for (const turn of running) this.#interrupt(turn, error);
    for (const replier of this.#repliers ?? []) replier.interrupt(error);
    for (const { lane, call, slot, size } of waiting) {
      if (call !== 0) answerUndelivered(lane, call, this.#owner.name, error);
      else bounce(lane, slot, size, error);
    }
    const marks = this.#marks;
    this.#marks = undefined;
    for (const { notify } of marks ?? []) notify();
    this.#notifyIdle();
  }

  #runningTurns(): Turn[] {
    const concurrent = [...(this.#concurrent ?? [])];
    return this.#serial === undefined ? concurrent : [this.#serial, ...concurrent];
  }

  #allTurns(): Turn[] {
    return [...this.#runningTurns(), ...this.#waiting];
  }

  #interrupt(turn: Turn, error: DeliveryError): void {
    if (turn.isEnded) return;
    if (turn.replier !== undefined) turn.replier.interrupt(error);
    else if (turn.call !== 0) answerInterrupted(turn, error);
    turn.cancel(0);
    turn.end();
  }

  /** Handles what waits, until something takes longer. */
  #next(): void {
    this.#isScheduled = true;
    while (this.#isOpen && this.#canStart()) {
      if (++this.#streak > STREAK) {
        this.#clock.nextTurn(() => {
          this.#streak = 0;
          this.#next();
        });
        return;
      }
      this.#start(this.#limits?.takeReady() ?? this.#dequeue());
    }
    this.#isScheduled = false;
    if (this.#queued === 0) this.#streak = 0;
    if (this.#marks !== undefined) this.#notifyMarks();
    if (this.#idleWaiters !== undefined && this.isIdle) this.#notifyIdle();
  }

  /**
   * Whether a message may start now. One that had to wait for others of its endpoint starts beside the message being handled, because
   * its place in the queue was before that one's.
   */
  #canStart(): boolean {
    return (this.#serial === undefined && this.#queued > 0) || this.#limits?.hasReady === true;
  }

  #dequeue(): Turn {
    const turn = this.#queue[this.#head++]!;
    if (this.#marks !== undefined) for (const mark of this.#marks) if (mark.last === turn) mark.isDequeued = true;
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    } else if (this.#head >= 1024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return turn;
  }

  #start(turn: Turn): void {
    const { endpoint, creditWithAnswer } = turn.handler;
    if (turn.isCancelled || turn.isExpired) {
      // Nobody reads this answer: it brings the credit back.
      answerUndelivered(turn.lane, turn.call, this.#owner.name, abandonedBeforeStart);
      return;
    }
    const { concurrent } = endpoint;
    if (concurrent !== false) {
      if (concurrent !== true && !this.#admit(turn, concurrent)) return;
      this.#concurrent ??= new Set();
      this.#concurrent.add(turn);
    } else this.#serial = turn;
    if (!creditWithAnswer) turn.lane.consumed(turn.size);
    this.#watchdog?.handlerStarted(turn);
    if (endpoint.stream) new StreamProducer(turn, this).start();
    else this.#handle(turn);
  }

  #admit(turn: Turn, limit: number): boolean {
    this.#limits ??= new ConcurrencyLimits();
    return this.#limits.admit(turn, limit);
  }

  #handle(turn: Turn): void {
    if (turn.handler.endpoint.respond) turn.replier = new Replier(turn, this);
    let result: unknown;
    try {
      result = runInTurn(turn, invokeHandler);
      const promise = promiseFrom(turn, result);
      if (promise !== undefined) {
        if (turn === this.#serial) this.#awaitSerial(promise);
        else {
          promise.then(
            (value) => this.handlerReturned(turn, value),
            (error) => this.handlerThrew(turn, error),
          );
        }
        return;
      }
    } catch (error) {
      this.handlerThrew(turn, error);
      return;
    }
    this.handlerReturned(turn, result);
  }

  /** The same two functions for all messages: one at a time is being awaited. */
  #awaitSerial(result: Promise<unknown>): void {
    this.#serialReturned ??= (value) => {
      if (this.#serial !== undefined) this.handlerReturned(this.#serial, value);
    };
    this.#serialThrew ??= (error) => {
      if (this.#serial !== undefined) this.handlerThrew(this.#serial, error);
    };
    result.then(this.#serialReturned, this.#serialThrew);
  }

  /** The handler has returned, for good. */
  handlerReturned(turn: Turn, value: unknown): void {
    if (!turn.isEnded) {
      if (turn.replier !== undefined) turn.replier.handlerEnded();
      else if (turn.call !== 0) answerWithValue(turn, value);
      else if (turn.handler.creditWithAnswer) turn.lane.consumed(turn.size);
      turn.end();
    }
    this.turnEnded(turn);
  }

  /** The handler has thrown, or its promise was rejected. */
  handlerThrew(turn: Turn, error: unknown): void {
    if (!turn.isEnded) {
      let told = turn.call !== 0;
      if (turn.replier !== undefined) told = turn.replier.handlerThrew(error);
      else if (told) answerWithError(turn, error);
      else if (turn.handler.creditWithAnswer) turn.lane.consumed(turn.size);
      turn.end();
      if (!told) this.#owner.messageFailed(turn, error);
    }
    this.turnEnded(turn);
  }

  /** A message has left the mailbox: the next one's turn. */
  turnEnded(turn: Turn): void {
    this.#watchdog?.handlerEnded(turn);
    if (turn === this.#serial) this.#serial = undefined;
    else if (this.#concurrent?.delete(turn)) {
      const { concurrent } = turn.handler.endpoint;
      if (typeof concurrent === "number") this.#limits?.turnEnded(turn, concurrent);
    }
    if (this.#isScheduled) return;
    if (this.#marks !== undefined) this.#notifyMarks();
    if (this.length > 0) this.#next();
    else if (this.#idleWaiters !== undefined && this.isIdle) this.#notifyIdle();
  }

  /** An answer will come by port, after the handler has ended. */
  addReplier(replier: Replier): void {
    this.#repliers ??= new Set();
    this.#repliers.add(replier);
  }

  removeReplier(replier: Replier): void {
    this.#repliers?.delete(replier);
    if (this.#idleWaiters !== undefined && this.isIdle) this.#notifyIdle();
  }

  #notifyMarks(): void {
    const marks = this.#marks!;
    while (marks[0]?.isDequeued === true && marks[0].last !== this.#serial) marks.shift()!.notify();
    if (marks.length === 0) this.#marks = undefined;
  }

  #notifyIdle(): void {
    const waiting = this.#idleWaiters;
    this.#idleWaiters = undefined;
    for (const resolve of waiting ?? []) resolve();
  }
}
