/**
 * Answers the call of a `@respond` endpoint through a port, once, while the handler runs or after it. If the port is
 * dropped without an answer, the caller gets an error as soon as the garbage collector has found that.
 */
import type { DeliveryError } from "../../link/errors.js";
import type { Codec } from "../../wire/codec.js";
import { announceHolders, portsWritten } from "../port/announce-holders.js";
import { ChannelPort, Port } from "../port/port.js";
import { PortTarget } from "../port/port-target.js";
import { type Sent, sentNow } from "../sent.js";
import { answerInterrupted, answerWithError } from "./answer.js";
import { ForwardedReply } from "./forwarded-reply.js";
import { callerAsHolder, type Turn, type TurnReplier } from "./turn.js";

/** Keeps the calls that a port has not answered yet. */
export interface ReplierOwner {
  addReplier(replier: Replier): void;
  removeReplier(replier: Replier): void;
}

/** The port that the handler receives. */
export class ReplyPort<T> extends Port<T> {
  readonly replier: Replier;

  constructor(replier: Replier) {
    super();
    this.replier = replier;
  }

  send(value: T): Sent {
    this.replier.answer(value);
    return sentNow;
  }

  exception(error: unknown): Sent {
    this.replier.fail(error);
    return sentNow;
  }
}

export class Replier implements TurnReplier {
  readonly turn: Turn;
  readonly #owner: ReplierOwner;
  #isSettled = false;
  /** Whether the actor has ended. Later answers are then ignored without an error. */
  #isInterrupted = false;
  #forward: ForwardedReply | undefined;
  #sentPort: ChannelPort<unknown> | undefined;
  #isDropped = false;
  #hasHandlerEnded = false;

  constructor(turn: Turn, owner: ReplierOwner) {
    this.turn = turn;
    this.#owner = owner;
  }

  /** The codec of the answer. */
  get codec(): Codec<unknown> | undefined {
    return this.turn.handler.endpoint.result;
  }

  /** Creates the port for the handler. Called once. */
  port(): ReplyPort<unknown> {
    const port = new ReplyPort<unknown>(this);
    this.turn.cell.proc.drops.watch(port, this);
    return port;
  }

  /**
   * @throws {Error} when the call has been answered before
   * @throws {CodecError} when the value has a wrong type; nothing has been sent
   * @throws {MessageSizeError} when the message is too large; nothing has been sent
   */
  answer(value: unknown): void {
    if (this.#isInterrupted) return;
    this.#checkOpen();
    const { lane, call, handler } = this.turn;
    if (call !== 0) {
      lane.link.sendReply(handler.reply, call, true, handler.result, value);
      if (portsWritten.length > 0) announceHolders(this.turn.cell.proc, [callerAsHolder(this.turn)]);
    }
    this.#settle();
  }

  /** @throws {Error} when the call has been answered before */
  fail(error: unknown): void {
    if (this.#isInterrupted) return;
    this.#checkOpen();
    if (this.turn.call !== 0) answerWithError(this.turn, error);
    this.#settle();
  }

  /** Returns a port of this proc by which other actors can answer, because the handler sends its port to them. */
  toChannelPort(): ChannelPort<unknown> {
    this.#checkOpen();
    if (this.#sentPort === undefined) {
      const { proc } = this.turn.cell;
      const { codec } = this;
      if (codec === undefined) throw new TypeError("expected a port of a type, got a port of void");
      this.#forward = new ForwardedReply(this, this.turn.cell, proc.random.id(), codec);
      proc.openPort(this.#forward);
      this.#sentPort = new ChannelPort(
        new PortTarget(proc.id, this.#forward.number, codec.fingerprint, proc.location),
        codec,
      );
      proc.drops.unwatch(this);
    }
    return this.#sentPort;
  }

  handlerEnded(): void {
    this.#hasHandlerEnded = true;
    if (this.#isSettled) return;
    if (this.#isDropped) this.dropped();
    else {
      this.#owner.addReplier(this);
      if (this.turn.call !== 0 && this.#sentPort === undefined) this.turn.cell.proc.drops.suspectDropped(this);
    }
  }

  /** Returns whether a caller received the error. */
  handlerThrew(error: unknown): boolean {
    if (this.#isSettled) return false;
    this.fail(error);
    return this.turn.call !== 0;
  }

  /** Answers the call with `error`, because the actor has ended. */
  interrupt(error: DeliveryError): void {
    if (this.#isSettled) return;
    this.#isInterrupted = true;
    if (this.turn.call !== 0) answerInterrupted(this.turn, error);
    this.#settle();
  }

  /** Called when nothing refers to the port any more. */
  dropped(): void {
    this.#isDropped = true;
    if (!this.#hasHandlerEnded || this.#isSettled) return;
    const { endpoint } = this.turn.handler;
    this.fail(new Error(`cannot answer ${endpoint.name}: its handler dropped the port without using it`));
  }

  #settle(): void {
    this.#isSettled = true;
    this.turn.cell.proc.drops.unwatch(this);
    this.#owner.removeReplier(this);
    this.#forward?.close();
  }

  #checkOpen(): void {
    if (!this.#isSettled) return;
    throw new Error(`cannot answer ${this.turn.handler.endpoint.name} by its port: the call has been answered already`);
  }
}
