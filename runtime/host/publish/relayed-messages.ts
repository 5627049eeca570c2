/**
 * Sends the messages to a mesh of another program through a host. The number of messages and bytes that are under way is
 * bounded: further messages wait here in their order, and hold the credit of their senders. When the host is gone, all
 * messages wait until another host passes them on.
 */
import type { RelayedCall } from "../../../generated/published.js";
import { ForwardFailure } from "../../actor/delivery/forward-failure.js";
import { DeliveryError } from "../../actor/errors.js";
import type { Clock } from "../../link/clock.js";
import type { AttachedHost } from "../attached/attached-host.js";
import {
  type MessageQueue,
  type RelayedMessage,
  RelayedSingle,
  RelayedStream,
  type UnsentCall,
} from "./relayed-message.js";

/** The largest number and size of messages under way to one mesh. */
const MOST_MESSAGES = 4096;
const MOST_BYTES = 16 * 1024 * 1024;

/** A host that passes the messages on from now on. */
export interface NextRoute {
  readonly host: AttachedHost;
  /** The number of moves of the sender to another host, including this one. */
  readonly moves: number;
  /** The largest number of a message that the other program has received. Undefined: it is not known. */
  readonly received: number | undefined;
  /** Why the messages do not go through the earlier host any more. */
  readonly reason: string;
}

export class RelayedMessages implements MessageQueue {
  /** Identifies this program among those that have looked up the mesh. */
  readonly sender: bigint;
  readonly #clock: Clock;
  readonly #onRouteFailed: (reason: string) => void;
  #host: AttachedHost;
  #moves = 0;
  /** Whether nothing is sent, because the host does not pass messages on any more. */
  #isPaused = false;
  #sequence = 0;
  #messages = 0;
  #bytes = 0;
  /** The messages that were sent and are not answered, in the order of their numbers. */
  readonly #underWay = new Set<RelayedMessage>();
  /** The messages that were not sent, in the order of their numbers. */
  #waiting: RelayedMessage[] = [];

  /**
   * @param sender a random number
   * @param onRouteFailed called when the host does not pass messages on any more, until `pause` is called
   */
  constructor(host: AttachedHost, sender: bigint, clock: Clock, onRouteFailed: (reason: string) => void) {
    this.#host = host;
    this.sender = sender;
    this.#clock = clock;
    this.#onRouteFailed = onRouteFailed;
  }

  /** The host that passes the messages on. */
  get host(): AttachedHost {
    return this.#host;
  }

  /** Sends a call or a broadcast, after all earlier messages. */
  send(call: UnsentCall): RelayedSingle {
    const message = new RelayedSingle(this, call, ++this.#sequence, this.#clock.now());
    this.#add(message);
    return message;
  }

  /** Calls a streaming endpoint, after all earlier messages. */
  stream(call: UnsentCall): RelayedStream {
    const message = new RelayedStream(this, call, ++this.#sequence, this.#clock.now());
    this.#add(message);
    return message;
  }

  messageEnded(message: RelayedMessage): void {
    if (!this.#underWay.delete(message)) return;
    this.#count(message, -1);
    this.#sendWaiting();
  }

  routeFailed(host: AttachedHost, reason: string): void {
    if (host === this.#host && !this.#isPaused) this.#onRouteFailed(reason);
  }

  /** Sends nothing until `resume` is called. */
  pause(): void {
    this.#isPaused = true;
  }

  /**
   * Sends through another host from now on. The messages that the other program has not received are sent again. Calls
   * that it has received fail, because their answers are lost; broadcasts that it has received need no answer.
   */
  resume({ host, moves, received, reason }: NextRoute): void {
    this.#host = host;
    this.#moves = moves;
    const undecided = [...this.#underWay];
    this.#underWay.clear();
    this.#messages = 0;
    this.#bytes = 0;
    const isLost = (message: RelayedMessage) => received === undefined || message.sequence <= received;
    this.#waiting = [...undecided.filter((message) => !isLost(message)), ...this.#waiting];
    for (const message of undecided.filter(isLost)) {
      if (received !== undefined && !message.call.isCall) message.finish({});
      else message.fail(lostAnswer(reason, host));
    }
    this.#isPaused = false;
    this.#sendWaiting();
  }

  /** Ends all messages, because the mesh cannot be reached any more. */
  end(reason: string): void {
    this.#isPaused = true;
    const left = [...this.#underWay, ...this.#waiting];
    this.#waiting = [];
    for (const message of left) message.finish({ ended: reason });
  }

  #add(message: RelayedMessage): void {
    this.#waiting.push(message);
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    while (!this.#isPaused) {
      const message = this.#waiting[0];
      if (message === undefined || !(message.isEnded || this.#hasRoom)) return;
      this.#waiting.shift();
      if (!message.isEnded) this.#sendNow(message);
    }
  }

  get #hasRoom(): boolean {
    return this.#messages < MOST_MESSAGES && this.#bytes < MOST_BYTES;
  }

  #sendNow(message: RelayedMessage): void {
    this.#underWay.add(message);
    this.#count(message, 1);
    message.sendThrough(this.#host, this.#numbered(message));
  }

  #numbered({ call, sequence, since }: RelayedMessage): RelayedCall {
    const order = { sender: this.sender, sequence, moves: this.#moves };
    if (call.timeout === undefined) return { ...call, order };
    const timeout = Math.max(1, Math.ceil(call.timeout - (this.#clock.now() - since)));
    return { ...call, order, timeout };
  }

  #count({ isLimited, call }: RelayedMessage, sign: 1 | -1): void {
    if (!isLimited) return;
    this.#messages += sign;
    this.#bytes += sign * call.args.length;
  }
}

/** @param next the host that passes later messages on */
function lostAnswer(reason: string, { address: next }: AttachedHost): ForwardFailure {
  const why = `${reason}, while the call was under way; it may have been handled, so it was not sent again`;
  return new ForwardFailure(new DeliveryError("closed", `${why}; later calls go through host ${next}`));
}
