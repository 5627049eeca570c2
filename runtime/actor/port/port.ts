/**
 * Ports: destinations for messages of one type. A port is a value that any actor can receive and keep. This file
 * contains what all ports have in common and the port of a channel. The port that answers a call is in cell/replier.ts;
 * receivers are in channel.ts.
 */

import { DeliveryError } from "../../link/errors.js";
import { FrameFlag } from "../../link/frame/frame.js";
import { emptyChain, type MessageExtension, WHOLE_MESH } from "../../link/frame/message-extension.js";
import { encodeMessage } from "../../link/outbound/encode-message.js";
import type { MessageEncoder, OutboundMessage } from "../../link/outbound/message-sender.js";
import type { Session } from "../../link/outbound/session.js";
import type { TraceContext } from "../../link/trace-context.js";
import type { Codec } from "../../wire/codec.js";
import { protobufValue } from "../../wire/protobuf-messages.js";
import { currentTurn, mainRoot } from "../context.js";
import { writeErrorWithCauses } from "../delivery/error-codec.js";
import { portInterface } from "../schema/port-interface.js";
import { Sent, sentNow } from "../sent.js";
import { announceHolders, portsWritten } from "./announce-holders.js";
import type { PortTarget } from "./port-target.js";

/**
 * A port, to which values of one type can be sent. Ports are values: any actor can receive, keep and send them. {@link
 * Channel} opens a port with its receiver.
 */
export abstract class Port<T> {
  /** Exists only for the type checker, so that a port of a wider type cannot stand for a port of a narrower one. */
  declare readonly $accepts: (value: T) => void;

  /**
   * Sends a value to the receiver of the port. Values of one sender arrive in the order in which they were sent.
   *
   * @param value the value to send
   * @returns an awaitable that resolves when the receiver has credit for the message; it never rejects
   * @throws {CodecError} when the value has a wrong type or is out of range; nothing has been sent
   * @throws {MessageSizeError} when the message is too large; nothing has been sent
   * @throws {BackpressureError} when more than the send window is waiting for the receiver; nothing has been sent
   */
  abstract send(value: T): Sent;

  /**
   * Sends an error: `recv` of the receiver, or the call that the port answers, rejects with it.
   *
   * @param error the error to send
   * @returns an awaitable that resolves when the receiver has credit for the message; it never rejects
   */
  abstract exception(error: unknown): Sent;
}

export class ChannelPort<T> extends Port<T> {
  readonly target: PortTarget;
  readonly codec: Codec<T>;

  /** Called by `Channel.open`, and when a port is received. */
  constructor(target: PortTarget, codec: Codec<T>) {
    super();
    this.target = target;
    this.codec = codec;
  }

  send(value: T): Sent {
    return this.#cast(0, { label: this.#label, codec: this.codec, protobuf: protobufValue(this.codec) }, value);
  }

  exception(error: unknown): Sent {
    return this.#cast(FrameFlag.exception, { label: this.#label, codec: errorEncoder, protobuf: errorEncoder }, error);
  }

  override toString(): string {
    return this.#label;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `Port (${this.#label})`;
  }

  get #label(): string {
    return `port of ${this.codec.name}`;
  }

  #cast(flags: number, message: OutboundMessage, value: unknown): Sent {
    const { target, codec } = this;
    const turn = currentTurn();
    const sender = turn?.cell ?? mainRoot();
    // A sender that knows the type by another fingerprint than the receiver first agrees on a layout with it, on a
    // separate lane.
    const same = codec.fingerprint === target.fingerprint;
    let session: Session;
    try {
      session = sender.outbound.session(
        same ? target.key : `${target.key} ${codec.fingerprint}`,
        target,
        target.location,
      );
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      encodeMessage(message, value, sender.proc.limits);
      sender.undeliverable(this.#label, error);
      return sentNow;
    }
    const sent = session.hasCredit ? sentNow : new Sent(1);
    session.cast(same ? 0 : session.slotOf(portInterface(codec)), flags, message, value, sent, traced(turn?.span));
    if (portsWritten.length > 0) announceHolders(sender.proc, [{ proc: target.proc, name: target.key }]);
    return sent;
  }
}

function traced(trace: TraceContext | undefined): MessageExtension | undefined {
  return trace === undefined
    ? undefined
    : { rank: 0, extent: WHOLE_MESH, timeout: 0, trace, chain: emptyChain, key: undefined };
}

/** Encodes an error with its causes as the message of a port. */
const errorEncoder: MessageEncoder = { encodeInto: writeErrorWithCauses };
