/**
 * The receiving side of an actor: the lanes that lead to it, the interfaces that are agreed on for each lane, and the
 * decoding of messages for the mailbox. The mailbox decides when a message is handled.
 */
import { DeliveryError } from "../../link/errors.js";
import { type Binding, Layout } from "../../link/frame/binding.js";
import { FrameFlag, ProtocolError } from "../../link/frame/frame.js";
import { readExtension } from "../../link/frame/message-extension.js";
import type { Destination, Lane } from "../../link/inbound/lane.js";
import { thrownMessage } from "../../thrown.js";
import type { ActorDescriptor } from "../../wire/descriptor.js";
import type { Reader } from "../../wire/reader.js";
import { portsRead } from "../port/announce-holders.js";
import type { ActorClass } from "../reference/actor-request.js";
import type { LocalActor } from "../reference/local-actor.js";
import { schemaForPeer } from "../schema/compare-schemas.js";
import type { ActorPorts } from "./actor-ports.js";
import { answerUndecodable, answerUndelivered, bounce } from "./answer.js";
import { CallLimit } from "./call-limit.js";
import { handlerById, handlersOf, interfaceOf, protobufVariant } from "./handler.js";
import { Mailbox, type MailboxOwner } from "./mailbox.js";
import type { Handler } from "./message-handler.js";
import type { MessagePasser } from "./message-passer.js";
import { Turn } from "./turn.js";
import { Watchdog, type WatchedActor } from "./watchdog.js";

/** The cancel reason of callers that are gone: an index of `cancelReasons`. */
const CALLER_GONE = 0;

/** An actor that receives messages. */
export interface ReceivingActor extends LocalActor {
  readonly ports: ActorPorts;
}

export class ActorInbound implements Destination {
  readonly #actor: ReceivingActor;
  readonly #mailbox: Mailbox;
  /** Why messages are refused. Undefined while the actor takes messages. */
  #ended: DeliveryError | undefined;
  /** Whether the senders have been told that the actor is gone. */
  #isGone = false;
  #lanes: Lane[] | undefined;
  /** The receiving side of the actor that has replaced this one. */
  #replacement: ActorInbound | undefined;

  /**
   * @param owner is told of handlers that fail, of those that run for too long, and when the actor has handled as many messages
   *   as its process may
   */
  constructor(actor: ReceivingActor, owner: MailboxOwner & WatchedActor & { callsSpent(): void }) {
    this.#actor = actor;
    const { clock } = actor.proc;
    const { watch, maxCalls } = actor.spec;
    const limit = maxCalls === undefined ? undefined : new CallLimit(maxCalls, clock, () => owner.callsSpent());
    this.#mailbox = new Mailbox(owner, clock, watch && new Watchdog(owner, watch, clock), limit);
  }

  /** Why the actor takes no more messages. Undefined while it takes them. */
  get ended(): DeliveryError | undefined {
    return this.#ended;
  }

  /** The turns of calls that are not answered. */
  get calls(): readonly Turn[] {
    return this.#mailbox.calls;
  }

  /** The number of queued messages. */
  get waitingCount(): number {
    return this.#mailbox.length;
  }

  /** Returns whether the actor `token` waits, directly or through other actors, for the answer to a queued message. */
  isAwaitedBy(token: readonly [number, number]): boolean {
    return this.#mailbox.isAwaitedBy(token);
  }

  /** Starts to handle messages. Messages that arrived earlier are queued. */
  open(): void {
    this.#mailbox.open();
  }

  /** Refuses messages from now on. Queued messages are still handled. */
  refuse(error: DeliveryError): void {
    this.#ended = error;
    this.#mailbox.endCount();
  }

  /** Passes messages that have not started on to the actor in another process, and those that arrive later. */
  passOn(passer: MessagePasser): void {
    this.#mailbox.passOn(passer);
  }

  /** Refuses messages from now on, and returns the queued ones to their senders. */
  close(error: DeliveryError): void {
    this.#ended = error;
    this.#mailbox.close(error);
  }

  /** Whether no message waits or is being handled. */
  get isIdle(): boolean {
    return this.#mailbox.isIdle;
  }

  /** Runs work between two messages: see `Mailbox.runBetween`. */
  runBetween(run: () => Promise<void>, drop: () => void): void {
    this.#mailbox.runBetween(run, drop);
  }

  /** Resolves when all queued messages are handled and answered. */
  whenDrained(): Promise<void> {
    return this.#mailbox.whenDrained();
  }

  /**
   * Promises that resolve when messages arrive again on lanes that are paused. Messages on such a lane came in a layout
   * that this process cannot read, and their senders send them again.
   */
  get pausedLanes(): readonly Promise<unknown>[] {
    return (this.#lanes ?? []).flatMap(({ whenResumed }) => whenResumed ?? []);
  }

  /** Tells all senders that the actor is gone. The actor has ended. */
  announceGone(): void {
    this.#isGone = true;
    for (const lane of this.#lanes?.splice(0) ?? []) this.#sendGone(lane);
  }

  /**
   * Redirects all lanes to the actor that replaces this one. Messages and casts have been returned to their senders
   * until now, and reach the new actor from now on, so it handles the messages of each sender without gaps.
   */
  replaceBy(next: ActorInbound): void {
    const lanes = this.#lanes ?? [];
    for (const lane of lanes) lane.redirect(next);
    next.#lanes = lanes;
    this.#lanes = undefined;
    this.#replacement = next;
  }

  bind(lane: Lane, binding: Binding): void {
    if (this.#replacement !== undefined) {
      // The frame that names the interface waited for casts while this actor was replaced.
      lane.redirect(this.#replacement);
      this.#replacement.bind(lane, binding);
      return;
    }
    this.#lanes ??= [];
    if (!this.#lanes.includes(lane)) this.#lanes.push(lane);
    if (this.#isGone) this.#sendGone(lane);
    const { firstSlot, layout, key } = binding;
    const { actorClass, descriptor } = this.#actor.spec;
    const own = descriptor === undefined ? undefined : interfaceOf(descriptor, key);
    if (actorClass === undefined || own === undefined) {
      const is = descriptor?.key ?? "root";
      lane.refusal = new DeliveryError("refused", `the actor ${this.#actor.name} is no ${key}: it is a ${is}`);
      if (layout === Layout.lockstep) lane.link.sendBound(lane.id, firstSlot, undefined);
    } else if (layout === Layout.protobuf) this.#bindByIds(lane, binding, actorClass, own);
    else if (layout === Layout.lockstep && own.fingerprint === binding.fingerprint) {
      for (const [i, handler] of handlersOf(actorClass, own).entries()) lane.slots[firstSlot + i] = handler;
      lane.link.sendBound(lane.id, firstSlot, undefined);
    } else if (layout === Layout.lockstep) {
      lane.pause();
      lane.link.sendBound(lane.id, firstSlot, schemaForPeer(own));
    }
  }

  message(lane: Lane, slot: number, call: number, flags: number, r: Reader, size: number): void {
    const extension = (flags & FrameFlag.extended) === 0 ? undefined : readExtension(r);
    let handler = lane.slots[slot] as Handler | undefined;
    if (this.#ended !== undefined || handler === undefined) {
      this.#rejectMessage(lane, slot, call, size);
      if (handler !== undefined) this.#releasePortsOfRefused(handler, flags, r);
      return;
    }
    if (handler.layout !== (flags & FrameFlag.protobuf)) handler = handlerForOtherLayout(handler, slot);
    let args: readonly unknown[];
    // An earlier message whose decoding failed may have left ports behind.
    if (portsRead.length > 0) portsRead.length = 0;
    try {
      args = handler.args.decodeFrom(r);
    } catch (error) {
      if (call !== 0) answerUndecodable(lane, call, this.#actor.name, error);
      else bounce(lane, slot, size, new DeliveryError("refused", thrownMessage(error)));
      return;
    }
    if (portsRead.length > 0) this.#actor.ports.ownDecoded();
    this.#mailbox.add(new Turn(this.#actor, lane, slot, handler, call, args, size, extension));
  }

  cancel(lane: Lane, call: number, reason: number): void {
    this.#mailbox.cancel(lane, call, reason);
  }

  /** Confirms to the sender of a lane, at its request, that all earlier messages of the lane are handled. */
  confirmHandled(lane: Lane): void {
    if (this.#replacement !== undefined) this.#replacement.confirmHandled(lane);
    else this.#mailbox.afterHandling(() => this.#confirm(lane));
  }

  #confirm(lane: Lane): void {
    const { passer } = this.#mailbox;
    if (passer === undefined) lane.confirmReached();
    else void passer.whenHandled().then(() => lane.confirmReached());
  }

  laneClosed(lane: Lane): void {
    const lanes = this.#lanes;
    const index = lanes?.indexOf(lane) ?? -1;
    if (index >= 0) lanes!.splice(index, 1);
    this.#mailbox.cancelLane(lane, CALLER_GONE);
  }

  #sendGone(lane: Lane): void {
    const { reason, message } = this.#ended!;
    lane.sendGone(reason, message);
  }

  /** Binds the endpoints of a sender whose schema differs. Endpoints of different schemas are matched by their ids. */
  #bindByIds(lane: Lane, { firstSlot, key, endpoints }: Binding, actorClass: ActorClass, own: ActorDescriptor): void {
    for (const [i, endpoint] of endpoints.entries()) {
      const handler = handlerById(actorClass, own, endpoint);
      lane.slots[firstSlot + i] = handler;
      if (handler !== undefined) continue;
      const { id, name } = endpoint;
      const actor = this.#actor.name;
      const why = `the actor ${actor} has no endpoint ${id} "${name}": its process has another schema of ${key}`;
      lane.slotRefusals ??= new Map();
      lane.slotRefusals.set(firstSlot + i, new DeliveryError("refused", why));
    }
  }

  /** Releases the ports in a message that no handler receives. */
  #releasePortsOfRefused(handler: Handler, flags: number, r: Reader): void {
    portsRead.length = 0;
    const isOwnLayout = handler.layout === (flags & FrameFlag.protobuf);
    try {
      (isOwnLayout ? handler : handlerForOtherLayout(handler, 0)).args.decodeFrom(r);
    } catch {
      // The message has been returned to its sender, which does not need it decoded.
    }
    if (portsRead.length > 0) this.#actor.ports.releaseDecoded();
  }

  #rejectMessage(lane: Lane, slot: number, call: number, size: number): void {
    const error = this.#ended ?? lane.slotRefusals?.get(slot) ?? lane.refusal;
    if (error === undefined) throw new ProtocolError(`cannot read message: slot ${slot} of its lane is not bound`);
    if (call === 0) bounce(lane, slot, size, error);
    else answerUndelivered(lane, call, this.#actor.name, error);
  }
}

/**
 * Returns the handler for the other layout. Every receiver reads the protobuf layout. Only receivers that have the
 * sender's schema read the lockstep layout.
 *
 * @throws {ProtocolError} if the lane is bound to the protobuf layout
 */
function handlerForOtherLayout(handler: Handler, slot: number): Handler {
  if (handler.layout === 0) return protobufVariant(handler);
  throw new ProtocolError(
    `cannot read message: slot ${slot} of its lane was agreed to be in the protobuf layout, and it is in another one`,
  );
}
