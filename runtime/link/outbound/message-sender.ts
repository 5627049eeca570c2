/**
 * What a session is told: who sends, where to, what, and by which interface. Types only; how messages go is told in
 * session.ts.
 */
import type { Codec } from "../../wire/codec.js";
import type { ActorId, ProcId } from "../address.js";
import type { DeliveryError } from "../errors.js";
import type { BoundEndpoint, PeerSchema } from "../frame/binding.js";
import type { EncodedMessage } from "./credit-queue.js";
import type { Session } from "./session.js";

/** Who sends: an actor, or a program's root. */
export interface MessageSender {
  readonly id: ActorId;
  /** For people. */
  readonly name: string;
  /**
   * The receiver has another schema of an interface.
   * @returns why its messages cannot be sent; undefined: they can, in the protobuf layout
   */
  compare(session: Session, known: MessageInterface, other: PeerSchema): DeliveryError | undefined;
  /** A message that was encoded in the lockstep layout, in the protobuf layout. @throws CodecError, MessageSizeError */
  translate(known: MessageInterface, endpoint: BoundEndpoint, body: EncodedMessage): EncodedMessage;
  /** A message without an answer came back. */
  bounced(session: Session, slot: number, error: DeliveryError): void;
  /** What was sent found nobody, or what follows will not: the actor or port at the other end has ended. */
  targetEnded(target: SessionTarget): void;
  /** The session can't be used any more; the next message needs a new one. */
  sessionEnded(session: Session): void;
}

/** Where a session leads. */
export interface SessionTarget {
  readonly kind: "actor" | "port";
  readonly proc: ProcId;
  /** The mesh, or the port's number. */
  readonly number: bigint;
  readonly rank: number;
  /** The proc that knows whether the mesh exists. */
  readonly owner: ProcId;
  /** Of the port's type; 0n for actors. */
  readonly fingerprint: bigint;
}

/** What is being sent, as errors name it and as it is encoded. */
export interface OutboundMessage {
  /** `counters.increment`. */
  readonly label: string;
  readonly codec: MessageEncoder;
  /** The same in the protobuf layout. */
  readonly protobuf: MessageEncoder;
}

/** The half of a codec that sending needs. */
export type MessageEncoder = Pick<Codec<unknown>, "encodeInto">;

/** An interface of the receiver, by whose endpoints messages are sent; the same object each time. */
export interface MessageInterface {
  readonly key: string;
  readonly name: string;
  readonly fingerprint: bigint;
  readonly endpoints: readonly BoundEndpoint[];
}

/** What goes to one slot, as those know it who encode it. */
export interface BoundMessage extends BoundEndpoint {
  readonly args: Codec<unknown>;
}

/** Where the messages of a session stand among casts of its sender to the same actor. */
export interface CastOrder {
  /** A message is about to be sent: the receiver is told which casts come before it, unless it knows. */
  beforeMessage(): void;
  /** The session has come to its end: what it was to tell the receiver may not have been told. */
  sessionEnded(): void;
}

/** Waits until a message has been given credit. */
export interface CreditWaiter {
  credited(): void;
}
