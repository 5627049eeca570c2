/** The port by which a call is answered, after the handler has sent it to other actors. Any holder can answer, once. */
import type { ActorId, ProcId } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import type { Binding } from "../../link/frame/binding.js";
import { FrameFlag, ProtocolError } from "../../link/frame/frame.js";
import { readExtension } from "../../link/frame/message-extension.js";
import type { Lane } from "../../link/inbound/lane.js";
import { thrownMessage } from "../../thrown.js";
import type { Codec } from "../../wire/codec.js";
import type { Reader } from "../../wire/reader.js";
import { PortHolders } from "../port/port-holders.js";
import { readException } from "../port/port-queue.js";
import type { LocalActor } from "../reference/local-actor.js";
import type { OpenPort, PortOwner } from "../reference/open-port.js";
import { schemaForPeer } from "../schema/compare-schemas.js";
import { bindPort, readPortValue } from "../schema/port-interface.js";
import { bounce } from "./answer.js";

/** Answers the call. Both methods throw when the call has been answered before. */
export interface ReplyAnswerer {
  answer(value: unknown): void;
  fail(error: unknown): void;
}

export class ForwardedReply implements OpenPort {
  readonly cell: LocalActor;
  readonly number: bigint;
  readonly codec: Codec<unknown>;
  readonly #answerer: ReplyAnswerer;
  readonly #holders = new PortHolders();

  constructor(answerer: ReplyAnswerer, cell: LocalActor, number: bigint, codec: Codec<unknown>) {
    this.cell = cell;
    this.number = number;
    this.codec = codec;
    this.#answerer = answerer;
  }

  get owner(): PortOwner {
    return this.cell.ports;
  }

  bind(lane: Lane, binding: Binding): void {
    bindPort(lane, binding, this.codec, schemaForPeer);
  }

  message(lane: Lane, slot: number, _call: number, flags: number, r: Reader, size: number): void {
    if ((flags & FrameFlag.extended) !== 0) readExtension(r);
    try {
      if ((flags & FrameFlag.exception) !== 0) this.#answerer.fail(readException(lane, r));
      else this.#answerer.answer(readPortValue(lane, slot, flags, r, this.codec));
      lane.consumed(size);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      bounce(lane, slot, size, new DeliveryError("refused", thrownMessage(error)));
    }
  }

  cancel(): void {}

  laneClosed(): void {}

  laneOpenedBy(sender: ActorId): void {
    this.#holders.addSender(sender);
  }

  setHolder(holder: string, proc: ProcId, held: boolean): void {
    if (held) this.#holders.add(holder, proc);
    else if (this.#holders.remove(holder)) this.#orphan();
  }

  peerDown(peer: ProcId, reason: string): void {
    if (this.#holders.removeProc(peer, reason)) this.#orphan();
  }

  close(): void {
    this.cell.proc.closePort(this);
  }

  /** Fails the call, because no holder of the port is left. */
  #orphan(): void {
    this.#answerer.fail(new Error(`everyone who could answer the call has ended: ${this.#holders.orphanReason}`));
  }
}
