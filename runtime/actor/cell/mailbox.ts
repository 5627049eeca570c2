/**
 * The mailbox of an actor: a queue of messages in the order of their arrival. They are handled strictly one at a time, also
 * while a handler awaits. The message of a `@concurrent` endpoint starts when it leaves the queue, and the next message does
 * not wait for it. If its endpoint has a limit, it may wait for other messages of the endpoint. The lifecycle of the actor
 * opens and closes the mailbox.
 */
import type { Clock } from "../../link/clock.js";
import type { DeliveryError } from "../../link/errors.js";
import { emptyChain, isInChain } from "../../link/frame/message-extension.js";
import type { Lane } from "../../link/inbound/lane.js";
import { startInTurn } from "../context.js";
import {
  abandonedBeforeStart,
  answerInterrupted,
  answerUndelivered,
  answerWithError,
  answerWithValue,
  bounce,
} from "./answer.js";
import type { CallLimit } from "./call-limit.js";
import { ConcurrencyLimits } from "./concurrency-limits.js";
import { isInterruptedAtStop } from "./endless-handlers.js";
import { invokeHandler, promiseFrom } from "./invoke.js";
import { type MessagePasser, passingHandler } from "./message-passer.js";
import { Replier } from "./replier.js";
import { StreamProducer } from "./stream-producer.js";
import type { Turn } from "./turn.js";
import type { Watchdog } from "./watchdog.js";

/** The number of messages that are taken from the queue before the event loop runs other tasks. */
const STREAK = 64;

/** A request to be notified when all messages that have arrived before it are handled. */
interface HandledMark {
  /** The last message that has arrived before the request. */
  readonly last: Turn;
  readonly notify: () => void;
  /** Whether the message has left the queue. */
  isDequeued: boolean;
}

/** Work that runs between two messages. */
interface Interlude {
  /** Does the work. Never rejects. */
  readonly run: () => Promise<void>;
  /** Called instead of `run` if the mailbox is closed before. */
  readonly drop: () => void;
}

/** Receives the errors that a mailbox has no caller for. */
export interface MailboxOwner {
  /** The name of the actor: `counters[1]`. */
  readonly name: string;
  /** Called when a handler threw and its message expects no answer. */
  messageFailed(turn: Turn, error: unknown): void;
}

export class Mailbox {
  readonly #owner: MailboxOwner;
  readonly #clock: Clock;
  #queue: Turn[] = [];
  #head = 0;
  /** The message that is being handled, other than concurrent ones. */
  #serial: Turn | undefined;
  /** The concurrent messages that are being handled. */
  #concurrent: Set<Turn> | undefined;
  /** Set when a message of an endpoint with a limit has started. */
  #limits: ConcurrencyLimits | undefined;
  /** The repliers of calls whose handlers have ended, and whose answers have not been sent to their ports. */
  #repliers: Set<Replier> | undefined;
  #isOpen = false;
  #streak = 0;
  readonly #watchdog: Watchdog | undefined;
  /** Whether `#next` is running further up the stack, or will run in a later turn of the event loop. */
  #isScheduled = false;
  #idleWaiters: (() => void)[] | undefined;
  /** Work that runs between two messages, in the order of the requests. */
  #interludes: Interlude[] | undefined;
  /** Whether such work is running. No message starts meanwhile. */
  #isPaused = false;
  /** The marks in the order of their messages. */
  #marks: HandledMark[] | undefined;
  /** Undefined: the process of the actor is not replaced after a number of messages. */
  #limit: CallLimit | undefined;
  #passer: MessagePasser | undefined;
  #serialReturned: ((value: unknown) => void) | undefined;
  #serialThrew: ((error: unknown) => void) | undefined;

  /**
   * @param watchdog undefined if handlers have no time limits
   * @param limit counts the handled messages, and holds the others when there have been enough
   */
  constructor(owner: MailboxOwner, clock: Clock, watchdog: Watchdog | undefined, limit?: CallLimit) {
    this.#owner = owner;
    this.#clock = clock;
    this.#watchdog = watchdog;
    this.#limit = limit;
    if (limit !== undefined) limit.resume = () => this.#resume();
  }

  /** The number of waiting messages. */
  get length(): number {
    return this.#queued() + (this.#limits?.length ?? 0);
  }

  /** Returns the number of messages in the queue. It is no getter, because V8 never inlines private getters. */
  #queued(): number {
    return this.#queue.length - this.#head;
  }

  get #waiting(): Turn[] {
    const queued = this.#queue.slice(this.#head);
    return this.#limits === undefined ? queued : [...this.#limits.waiting, ...queued];
  }

  /** The turns of calls that are being handled or wait, and are not answered. */
  get calls(): readonly Turn[] {
    return this.#allTurns().filter(({ call, isEnded }) => call !== 0 && !isEnded);
  }

  /** Returns whether the actor `token` waits, directly or through others, for the answer to a waiting message. */
  isAwaitedBy(token: readonly [number, number]): boolean {
    return this.#waiting.some((turn) => isInChain(turn.extension?.chain ?? emptyChain, token));
  }

  /** Whether no message waits or is being handled, apart from those that a stop interrupts, and no call waits for an answer through a port. */
  get isIdle(): boolean {
    if (this.#serial !== undefined || this.length > 0) return false;
    for (const turn of this.#concurrent ?? []) if (!isInterruptedAtStop(turn)) return false;
    if (this.#isPaused || this.#interludes !== undefined) return false;
    return !this.#hasUnansweredPorts;
  }

  get #hasUnansweredPorts(): boolean {
    return [...(this.#repliers ?? [])].some(({ turn }) => turn.call !== 0);
  }

  /** Adds a message, and handles it at once if no other message is before it. */
  add(turn: Turn): void {
    // The queue is empty then, because `#next` runs whenever a handler ends.
    const isFree = this.#isOpen && this.#serial === undefined && !this.#isScheduled && !this.#isPaused;
    if (isFree && this.#limit?.isHolding !== true) this.#start(turn);
    else this.#queue.push(turn);
  }

  /** Passes messages on to the actor in another process. Undefined: the actor handles them. */
  get passer(): MessagePasser | undefined {
    return this.#passer;
  }

  /** Passes the messages that have not started on to another actor, and those that arrive later, in their order. */
  passOn(passer: MessagePasser): void {
    this.#passer = passer;
    this.#queue = this.#waiting;
    this.#head = 0;
    this.#limits = undefined;
    this.#limit?.close();
    this.#limit = undefined;
    this.#resume();
  }

  /** Stops counting. Messages that were held back start. */
  endCount(): void {
    if (this.#limit === undefined) return;
    this.#limit.close();
    this.#limit = undefined;
    this.#resume();
  }

  #resume(): void {
    if (this.#isOpen && !this.#isScheduled) this.#next();
  }

  /**
   * Runs `run` as soon as no message is being handled, other than concurrent ones. The messages that have arrived before
   * do not come first, and the next message starts when the promise of `run` has resolved.
   *
   * @param run never rejects
   * @param drop called instead if the mailbox is closed before
   */
  runBetween(run: () => Promise<void>, drop: () => void): void {
    this.#interludes ??= [];
    this.#interludes.push({ run, drop });
    if (this.#isOpen && this.#serial === undefined && !this.#isScheduled) this.#next();
  }

  /** Starts to handle messages. */
  open(): void {
    this.#isOpen = true;
    this.#next();
  }

  /** Resolves when no message waits or is being handled, and all calls are answered. */
  whenDrained(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idleWaiters ??= [];
      this.#idleWaiters.push(resolve);
    });
  }

  /**
   * Calls `notify` when all messages that have arrived are handled, or have started if they are concurrent. The call can
   * happen at once.
   */
  afterHandling(notify: () => void): void {
    const queued = this.#queued() > 0;
    const last = queued ? this.#queue.at(-1) : this.#serial;
    if (last === undefined) notify();
    else {
      this.#marks ??= [];
      this.#marks.push({ last, notify, isDequeued: !queued });
    }
  }

  /** Cancels a call, because its caller has stopped waiting. A call that has not started is not handled. */
  cancel(lane: Lane, call: number, reason: number): void {
    for (const turn of this.#allTurns()) if (turn.lane === lane && turn.call === call) turn.cancel(reason);
  }

  /** Cancels the calls of a lane, because its sender is gone. Messages without an answer are still handled. */
  cancelLane(lane: Lane, reason: number): void {
    for (const turn of this.#allTurns()) if (turn.lane === lane && turn.call !== 0) turn.cancel(reason);
  }

  /** Closes the mailbox: waiting messages return to their senders, and running calls are answered with `error`. */
  close(error: DeliveryError): void {
    const running = this.#runningTurns();
    const waiting = this.#waiting;
    this.#isOpen = false;
    this.#limit?.close();
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
    const interludes = this.#interludes;
    this.#interludes = undefined;
    for (const { drop } of interludes ?? []) drop();
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

  /** Starts waiting messages until one of them must be awaited. */
  #next(): void {
    this.#isScheduled = true;
    while (this.#isOpen && this.#canStart()) {
      if (this.#interludes !== undefined && this.#serial === undefined) {
        this.#runInterlude(this.#interludes);
        break;
      }
      if (++this.#streak > STREAK) {
        this.#clock.nextTurn(() => {
          this.#streak = 0;
          this.#next();
        });
        return;
      }
      this.#startWaiting(this.#limits?.takeReady() ?? this.#dequeue());
    }
    this.#isScheduled = false;
    if (this.#queued() === 0) this.#streak = 0;
    if (this.#marks !== undefined) this.#notifyMarks();
    if (this.#idleWaiters !== undefined && this.isIdle) this.#notifyIdle();
    if (this.#limit?.isHolding === true) this.#notifyLimit(this.#limit);
  }

  #notifyLimit(limit: CallLimit): void {
    const runs = this.#serial !== undefined || (this.#concurrent?.size ?? 0) > 0 || this.#isPaused;
    if (!runs && !this.#hasUnansweredPorts) limit.nothingRuns();
  }

  /**
   * Returns whether a message can start now. A message that has waited for the limit of its endpoint starts while another
   * message is being handled, because it arrived before that message.
   */
  #canStart(): boolean {
    if (this.#isPaused) return false;
    if (this.#interludes !== undefined && this.#serial === undefined) return true;
    if (this.#limit?.isHolding === true) return false;
    return (this.#serial === undefined && this.#queued() > 0) || this.#limits?.hasReady === true;
  }

  #runInterlude(interludes: Interlude[]): void {
    const { run } = interludes.shift()!;
    if (interludes.length === 0) this.#interludes = undefined;
    this.#isPaused = true;
    void run().then(() => {
      this.#isPaused = false;
      if (!this.#isScheduled) this.#next();
    });
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

  /** Starts a message that has waited, unless its caller waits no longer. */
  #startWaiting(turn: Turn): void {
    // The caller ignores this answer, which returns the credit of the message.
    if (turn.isCancelled || turn.isExpired)
      answerUndelivered(turn.lane, turn.call, this.#owner.name, abandonedBeforeStart);
    else this.#start(turn);
  }

  /**
   * Starts the handler of a message. From here to `turnEnded`, what few messages need is in functions of its own, so that V8
   * inlines the rest into the code that receives frames (decision 236).
   */
  #start(turn: Turn): void {
    if (this.#passer !== undefined) turn.handler = passingHandler(turn.handler, this.#passer);
    const { endpoint, creditWithAnswer } = turn.handler;
    const { concurrent } = endpoint;
    if (concurrent === false) this.#serial = turn;
    else if (!this.#admit(turn, concurrent)) return;
    if (!creditWithAnswer) turn.lane.consumed(turn.size);
    this.#watchdog?.handlerStarted(turn);
    if (endpoint.stream) new StreamProducer(turn, this).start();
    else this.#handle(turn);
  }

  /** Adds a turn to the concurrent ones. Returns false if it must wait for the limit of its endpoint. */
  #admit(turn: Turn, concurrent: true | number): boolean {
    if (concurrent !== true) {
      this.#limits ??= new ConcurrencyLimits();
      if (!this.#limits.admit(turn, concurrent)) return false;
    }
    this.#concurrent ??= new Set();
    this.#concurrent.add(turn);
    return true;
  }

  #handle(turn: Turn): void {
    if (turn.handler.endpoint.respond) turn.replier = new Replier(turn, this);
    let result: unknown;
    try {
      result = startInTurn(turn, invokeHandler);
      const promise = promiseFrom(turn, result);
      if (promise !== undefined) {
        if (turn === this.#serial) this.#awaitSerial(promise);
        else this.#awaitConcurrent(turn, promise);
        return;
      }
    } catch (error) {
      this.handlerThrew(turn, error);
      return;
    }
    this.handlerReturned(turn, result);
  }

  /** Awaits the handler of `#serial`. All messages share two callbacks, because only one handler is awaited at a time. */
  #awaitSerial(result: Promise<unknown>): void {
    this.#serialReturned ??= (value) => {
      if (this.#serial !== undefined) this.handlerReturned(this.#serial, value);
    };
    this.#serialThrew ??= (error) => {
      if (this.#serial !== undefined) this.handlerThrew(this.#serial, error);
    };
    result.then(this.#serialReturned, this.#serialThrew);
  }

  #awaitConcurrent(turn: Turn, result: Promise<unknown>): void {
    result.then(
      (value) => this.handlerReturned(turn, value),
      (error) => this.handlerThrew(turn, error),
    );
  }

  /** Called when the handler has returned or its promise has been fulfilled. */
  handlerReturned(turn: Turn, value: unknown): void {
    if (!turn.isEnded) {
      if (turn.replier !== undefined) turn.replier.handlerEnded();
      else if (turn.call !== 0) answerWithValue(turn, value);
      else if (turn.handler.creditWithAnswer) turn.lane.consumed(turn.size);
      turn.end();
    }
    this.turnEnded(turn);
  }

  /** Called when the handler has thrown or its promise has been rejected. */
  handlerThrew(turn: Turn, error: unknown): void {
    if (!turn.isEnded) {
      let hasCaller = turn.call !== 0;
      if (turn.replier !== undefined) hasCaller = turn.replier.handlerThrew(error);
      else if (hasCaller) answerWithError(turn, error);
      else if (turn.handler.creditWithAnswer) turn.lane.consumed(turn.size);
      turn.end();
      if (!hasCaller) this.#owner.messageFailed(turn, error);
    }
    this.turnEnded(turn);
  }

  /** Called when the turn of a message has ended. Starts the next message. */
  turnEnded(turn: Turn): void {
    this.#watchdog?.handlerEnded(turn);
    if (turn === this.#serial) this.#serial = undefined;
    else this.#concurrentEnded(turn);
    this.#limit?.handled();
    if (!this.#isScheduled) this.#goOn();
  }

  #concurrentEnded(turn: Turn): void {
    if (this.#concurrent?.delete(turn) !== true) return;
    const { concurrent } = turn.handler.endpoint;
    if (typeof concurrent === "number") this.#limits?.turnEnded(turn, concurrent);
  }

  /** Starts the next message, or tells whoever waits for the end of the last one. */
  #goOn(): void {
    if (this.#marks !== undefined) this.#notifyMarks();
    if (this.length > 0 || this.#interludes !== undefined) this.#next();
    else {
      if (this.#idleWaiters !== undefined && this.isIdle) this.#notifyIdle();
      if (this.#limit?.isHolding === true) this.#notifyLimit(this.#limit);
    }
  }

  /** Registers a call whose handler has ended and whose port will answer it. */
  addReplier(replier: Replier): void {
    this.#repliers ??= new Set();
    this.#repliers.add(replier);
  }

  /** Unregisters a call that has been answered through its port. */
  removeReplier(replier: Replier): void {
    this.#repliers?.delete(replier);
    if (this.#idleWaiters !== undefined && this.isIdle) this.#notifyIdle();
    if (this.#limit?.isHolding === true) this.#notifyLimit(this.#limit);
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
