/**
 * The queue of a port: keeps values and errors in order until the receiver takes them. It knows the holders of the
 * port, so that the receiver learns when no sender is left.
 */
import type { ActorId, ProcId } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import type { Binding } from "../../link/frame/binding.js";
import { FrameFlag, ProtocolError } from "../../link/frame/frame.js";
import { readExtension } from "../../link/frame/message-extension.js";
import type { Lane } from "../../link/inbound/lane.js";
import type { TraceContext } from "../../link/trace-context.js";
import type { Codec } from "../../wire/codec.js";
import type { Reader } from "../../wire/reader.js";
import { answerUndelivered, bounce } from "../cell/answer.js";
import { readErrorWithCauses } from "../delivery/error-codec.js";
import { ActorError, OrphanedError, PortClosedError } from "../errors.js";
import { isProgramEnding } from "../program-end.js";
import type { LocalActor } from "../reference/local-actor.js";
import type { OpenPort, PortOwner } from "../reference/open-port.js";
import { schemaForPeer } from "../schema/compare-schemas.js";
import { bindPort, readPortValue } from "../schema/port-interface.js";
import { portsRead } from "./announce-holders.js";
import { PortHolders } from "./port-holders.js";

interface QueuedValue {
  readonly value: Promise<unknown>;
  readonly lane: Lane;
  readonly size: number;
  readonly trace: TraceContext | undefined;
}

type ReceiverCallback = (value: Promise<unknown>) => void;

export class PortQueue implements OpenPort {
  readonly cell: LocalActor;
  readonly number: bigint;
  readonly codec: Codec<unknown>;
  readonly #entries: QueuedValue[] = [];
  readonly #receivers: ReceiverCallback[] = [];
  readonly #lanes = new Set<Lane>();
  readonly #holders = new PortHolders();
  /** The trace of the entry that was taken last. */
  trace: TraceContext | undefined;
  #closeReason: string | undefined;

  constructor(cell: LocalActor, number: bigint, codec: Codec<unknown>) {
    this.cell = cell;
    this.number = number;
    this.codec = codec;
  }

  get owner(): PortOwner {
    return this.cell.ports;
  }

  /** Takes the next entry, if there is one. Returns a rejected promise if no entry will ever arrive. */
  take(): Promise<unknown> | undefined {
    const entry = this.#entries.shift();
    if (entry !== undefined) {
      entry.lane.consumed(entry.size);
      this.trace = entry.trace;
      return entry.value;
    }
    if (this.#closeReason !== undefined)
      return Promise.reject(new PortClosedError(`cannot receive: ${this.#closeReason}`));
    const { orphanReason } = this.#holders;
    return orphanReason === undefined ? undefined : Promise.reject(new OrphanedError(orphanReason));
  }

  /** Passes the next entry to `waiting` when it arrives. */
  wait(waiting: ReceiverCallback): ReceiverCallback {
    this.#receivers.push(waiting);
    return waiting;
  }

  /** @returns whether `waiting` was still waiting */
  stopWaiting(waiting: ReceiverCallback): boolean {
    const index = this.#receivers.indexOf(waiting);
    if (index >= 0) this.#receivers.splice(index, 1);
    return index >= 0;
  }

  bind(lane: Lane, binding: Binding): void {
    bindPort(lane, binding, this.codec, schemaForPeer);
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    this.#lanes.add(lane);
    if (this.#closeReason !== undefined) {
      const error = new DeliveryError("unknown", this.#closeReason);
      if (call === 0) bounce(lane, slot, size, error);
      else answerUndelivered(lane, call, "port", error);
      return;
    }
    const trace = (flags & FrameFlag.extended) === 0 ? undefined : readExtension(r).trace;
    const value = this.#read(lane, slot, flags, r);
    const waiting = this.#receivers.shift();
    if (waiting === undefined) {
      value.catch(() => {});
      this.#entries.push({ value, lane, size, trace });
      return;
    }
    this.trace = trace;
    lane.consumed(size);
    waiting(value);
  }

  cancel(): void {}

  laneClosed(lane: Lane): void {
    this.#lanes.delete(lane);
  }

  laneOpenedBy(sender: ActorId): void {
    this.#holders.addSender(sender);
  }

  setHolder(holder: string, proc: ProcId, held: boolean): void {
    if (held) this.#holders.add(holder, proc);
    else if (this.#holders.remove(holder)) this.#rejectAsOrphaned();
  }

  peerDown(peer: ProcId, reason: string): void {
    if (this.#holders.removeProc(peer, reason)) this.#rejectAsOrphaned();
  }

  /** Called when nothing refers to the receiver any more. */
  dropped(): void {
    this.close("its receiver was dropped");
  }

  close(why: string): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = why;
    this.#entries.length = 0;
    for (const lane of this.#lanes) lane.sendGone("unknown", why);
    this.cell.proc.closePort(this);
    this.#rejectReceivers(new PortClosedError(`cannot receive: ${why}`));
  }

  /** Rejects all waiting receivers, because nothing will arrive for them. */
  #rejectReceivers(error: Error): void {
    if (isProgramEnding() && this.cell.isRoot) return;
    for (const waiting of this.#receivers.splice(0)) waiting(Promise.reject(error));
  }

  #rejectAsOrphaned(): void {
    this.#rejectReceivers(new OrphanedError(this.#holders.orphanReason ?? ""));
  }

  /** @throws {ProtocolError} */
  #read(lane: Lane, slot: number, flags: number, r: Reader): Promise<unknown> {
    try {
      if ((flags & FrameFlag.exception) === 0) {
        const value = readPortValue(lane, slot, flags, r, this.codec);
        if (portsRead.length > 0) this.cell.ports.ownDecoded();
        return Promise.resolve(value);
      }
      return Promise.reject(readException(lane, r));
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      return Promise.reject(error);
    }
  }
}

/** Reads an error that was sent instead of a value. */
export function readException({ sender }: Lane, r: Reader): ActorError {
  const { name, message, stack, cause } = readErrorWithCauses(r);
  return new ActorError({
    remoteName: name,
    message,
    remoteStack: stack,
    cause: cause instanceof Error ? cause : undefined,
    actor: sender.name,
    rank: sender.rank,
    endpoint: "port",
  });
}
