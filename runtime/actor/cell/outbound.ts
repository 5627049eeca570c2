/**
 * The sending side of an actor: its sessions to other actors and to ports, and its cast senders, one for each mesh that it
 * casts to. Both are opened on first use and close when the actor ends.
 */

import type { CastSender } from "../../cast/sender/cast-sender.js";
import type { ActorId, Location } from "../../link/address.js";
import { DeliveryError } from "../../link/errors.js";
import type { BoundEndpoint, PeerSchema } from "../../link/frame/binding.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import type { BoundMessage, MessageInterface, SessionTarget } from "../../link/outbound/message-sender.js";
import type { Session } from "../../link/outbound/session.js";
import type { EndpointDescriptor } from "../../wire/descriptor.js";
import { protobufArguments, protobufValue } from "../../wire/protobuf-messages.js";
import { holderName } from "../port/announce-holders.js";
import type { ActorSender, LocalActor } from "../reference/local-actor.js";
import { ActorTarget, type MeshRecord } from "../reference/mesh-record.js";
import type { PortOwner } from "../reference/open-port.js";
import { compareSchemas } from "../schema/compare-schemas.js";
import { PortInterface } from "../schema/port-interface.js";
import { translateToProtobuf } from "../schema/translate-layout.js";
import { type CastSenderOwner, createCastSender } from "./create-cast-sender.js";
import { waitAtMost } from "./wait-at-most.js";

/** The time that an ending actor waits for receivers that may have another schema, in milliseconds. */
const SCHEMA_AGREEMENT_MS = 1000;

export class ActorOutbound implements ActorSender, CastSenderOwner {
  readonly actor: LocalActor;
  /** Why the actor sends nothing any more, even if its code still runs. */
  ended: DeliveryError | undefined;
  #sessions: Map<unknown, Session> | undefined;
  /** The cast senders, each for as long as this process has a handle of its mesh. */
  #castSenders: WeakMap<MeshRecord, CastSender> | undefined;
  /** The cast senders that have work. */
  #activeCastSenders: Set<CastSender> | undefined;

  constructor(actor: LocalActor) {
    this.actor = actor;
  }

  get id(): ActorId {
    return this.actor.id;
  }

  get name(): string {
    return this.actor.name;
  }

  get ports(): PortOwner {
    return this.actor.ports;
  }

  get sessions(): Iterable<Session> {
    return this.#sessions?.values() ?? [];
  }

  session(key: unknown, target: SessionTarget, location: Location): Session {
    const known = this.#sessions?.get(key);
    if (known !== undefined) return known;
    if (this.ended !== undefined) throw this.ended;
    const session = this.actor.proc.routes.linkTo(target.proc, location, target.owner).openSession(this, target, key);
    this.#sessions ??= new Map();
    this.#sessions.set(key, session);
    if (target instanceof ActorTarget) {
      target.sessionOpened(session);
      this.#castSenders?.get(target.mesh)?.attachSession(session, target.rank, false);
    }
    return session;
  }

  knownSession(key: unknown): Session | undefined {
    return this.#sessions?.get(key);
  }

  castSender(record: MeshRecord): CastSender {
    let castSender = this.#castSenders?.get(record);
    if (castSender === undefined) {
      castSender = createCastSender(this, record, this.sessions);
      this.#castSenders ??= new WeakMap();
      this.#castSenders.set(record, castSender);
    }
    return castSender;
  }

  castSenderActive(castSender: CastSender): void {
    this.#activeCastSenders ??= new Set();
    this.#activeCastSenders.add(castSender);
  }

  castSenderIdle(record: MeshRecord, castSender: CastSender, ended: boolean): void {
    this.#activeCastSenders?.delete(castSender);
    if (ended && this.#castSenders?.get(record) === castSender) this.#castSenders.delete(record);
  }

  sessionEnded(session: Session): void {
    if (session.target instanceof ActorTarget) session.target.sessionClosed(session);
    if (this.#sessions?.get(session.key) === session) this.#sessions.delete(session.key);
  }

  targetEnded(target: SessionTarget): void {
    if (!(target instanceof ActorTarget)) return;
    target.markDown();
    const { number: mesh, rank, generation } = target;
    for (let i = 0; i <= generation; i++) this.actor.proc.holderEnded(holderName({ mesh, rank, incarnation: i }));
  }

  compare({ target }: Session, known: MessageInterface, other: PeerSchema): DeliveryError | undefined {
    return compareSchemas(target, known, other);
  }

  translate(known: MessageInterface, endpoint: BoundEndpoint, body: EncodedMessage): EncodedMessage {
    // The endpoints of all interfaces that actors send by have codecs.
    const { args } = endpoint as BoundMessage;
    const protobuf = known instanceof PortInterface ? protobufValue(args) : protobufArguments(args);
    const { interceptor } = endpoint as Partial<EndpointDescriptor>;
    return translateToProtobuf(args, protobuf, body, this.actor.proc.limits, interceptor?.forwardedHandles);
  }

  bounced(session: Session, slot: number, error: DeliveryError): void {
    this.actor.undeliverable(session.labelOf(slot), error);
  }

  /**
   * Resolves when each receiver that is comparing its schema with the sender's has taken what was sent to it, or has been
   * sent it again in a layout that it can read. Receivers must not learn of the end of the actor before. Never rejects,
   * and resolves within a second.
   */
  async whenSchemasAgreed(): Promise<void> {
    const asking = [...this.sessions].filter((session) => session.isAskingForSchema);
    if (asking.length === 0) return;
    const sent = (session: Session) => new Promise<void>((resolve) => session.afterAllSent(resolve));
    await waitAtMost(this.actor.proc.clock, SCHEMA_AGREEMENT_MS, Promise.all(asking.map(sent)));
  }

  /** Closes all sessions and cast senders, because the actor has ended for the given reason. */
  close({ message }: DeliveryError): void {
    this.ended = new DeliveryError("closed", `its sender has ended: ${message}`);
    for (const session of this.sessions) {
      session.close();
      if (session.target instanceof ActorTarget) session.target.sessionClosed(session);
    }
    this.#sessions = undefined;
    for (const castSender of this.#activeCastSenders ?? []) castSender.close();
    this.#castSenders = undefined;
  }
}
