/** The types of a session's inputs: the sender, the target, the message and its interface. */
import type { Codec } from "../../wire/codec.js";
import type { ActorId, ProcId } from "../address.js";
import type { DeliveryError } from "../errors.js";
import type { BoundEndpoint, PeerSchema } from "../frame/binding.js";
import type { EncodedMessage } from "./encoded-message.js";

/** A session, as its sender identifies it. */
export interface SenderSession {
  /** The sender's own name for the session. */
  readonly key: unknown;
  readonly target: SessionTarget;
  /** Returns the name of the endpoint at a slot, for errors. */
  labelOf(slot: number): string;
}

/** The sender of messages: an actor, or the root actor of a program. */
export interface MessageSender {
  readonly id: ActorId;
  /** The name of the sender, for errors. */
  readonly name: string;
  /**
   * The receiver has another schema of an interface.
   * @returns undefined if messages can be sent in the protobuf layout, otherwise the error that says why not
   */
  compare(session: SenderSession, known: MessageInterface, other: PeerSchema): DeliveryError | undefined;
  /**
   * Translates a message from the lockstep layout into the protobuf layout.
   * @throws CodecError, MessageSizeError
   */
  translate(known: MessageInterface, endpoint: BoundEndpoint, body: EncodedMessage): EncodedMessage;
  /** A message that expects no answer could not be delivered. */
  bounced(session: SenderSession, slot: number, error: DeliveryError): void;
  /** The actor or port at the other end has ended. */
  targetEnded(target: SessionTarget): void;
  /** The session has ended. The next message needs a new session. */
  sessionEnded(session: SenderSession): void;
}

/** The destination of a session: an actor or a port. */
export interface SessionTarget {
  readonly kind: "actor" | "port";
  readonly proc: ProcId;
  /** The id of the mesh, or the number of the port. */
  readonly number: bigint;
  readonly rank: number;
  /** The proc that owns the mesh and knows whether it exists. */
  readonly owner: ProcId;
  /** The fingerprint of the port's type, or 0n for actors. */
  readonly fingerprint: bigint;
}

/** The message of an endpoint: its name for errors, and its codecs. */
export interface OutboundMessage {
  /** The name of the endpoint for errors, for example `counters.increment`. */
  readonly label: string;
  readonly codec: MessageEncoder;
  /** The codec of the protobuf layout. */
  readonly protobuf: MessageEncoder;
}

/** The encoding half of a codec. */
export type MessageEncoder = Pick<Codec<unknown>, "encodeInto">;

/** An interface of the receiver. It is identified by this object: each use must pass the same one. */
export interface MessageInterface {
  readonly key: string;
  readonly name: string;
  readonly fingerprint: bigint;
  readonly endpoints: readonly BoundEndpoint[];
}

/** An endpoint of an interface, with the codec of its arguments. */
export interface BoundMessage extends BoundEndpoint {
  readonly args: Codec<unknown>;
}

/** The order of a session's messages among the casts of its sender to the same actor. */
export interface CastOrder {
  /** A message is about to be sent. The receiver is told which casts come before the message, unless the receiver knows. */
  beforeMessage(): void;
  /** The session has ended. The receiver may not have been told about all casts. */
  sessionEnded(): void;
}

/** Waits until a message has credit. */
export interface CreditWaiter {
  credited(): void;
}
