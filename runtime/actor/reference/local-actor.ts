/**
 * An actor of this process as the rest of the runtime sees it: its identity, what it sends by, the ports that it has, and
 * its failures. The class is in cell/actor-cell.ts.
 */

import type { CastSender } from "../../cast/sender/cast-sender.js";
import type { ActorId, Location, MeshId } from "../../link/address.js";
import type { DeliveryError } from "../../link/errors.js";
import type { MessageSender, SessionTarget } from "../../link/outbound/message-sender.js";
import type { Session } from "../../link/outbound/session.js";
import type { Actor, SupervisedFailure } from "../actor.js";
import type { ActorFailure } from "./actor-failure.js";
import type { ActorProc } from "./actor-proc.js";
import type { ActorSpec } from "./actor-request.js";
import type { ActorContext } from "./handler-context.js";
import type { MeshRecord } from "./mesh-record.js";
import type { PortOwner } from "./open-port.js";

/** The identity of an actor, and the proc that it lives in. */
export interface ActorIdentity {
  readonly proc: ActorProc;
  readonly spec: ActorSpec;
  readonly id: ActorId;
  readonly mesh: MeshId;
  readonly rank: number;
  /** The actor for people: `counters[1]`. */
  readonly name: string;
  /** The actor's name in call chains. */
  readonly token: readonly [number, number];
  readonly context: ActorContext;
  /** Whether this is the root of its proc, which sends for code outside of actors and takes no messages. */
  readonly isRoot: boolean;
}

/** The sessions and cast senders by which an actor sends. */
export interface ActorSender extends MessageSender {
  /** The ports of the actor, which owns the ports in the answers that it receives. */
  readonly ports: PortOwner;
  /** Why the actor sends nothing any more, even if its code still runs. */
  readonly ended: DeliveryError | undefined;

  /**
   * Returns the session to a destination, and opens it on first use.
   *
   * @throws {DeliveryError} when the destination's process is known to be dead, or this actor has ended
   */
  session(key: unknown, target: SessionTarget, location: Location): Session;
  /** Returns the session to a destination if it is open. */
  knownSession(key: unknown): Session | undefined;
  /** Returns what the actor casts to a mesh by, and creates it on first use. */
  castSender(record: MeshRecord): CastSender;
}

export interface LocalActor extends ActorIdentity {
  /** The object of the user's class. Undefined before its constructor has returned and after `cleanup`. */
  readonly instance: Actor | undefined;
  readonly outbound: ActorSender;
  readonly ports: PortOwner;
  /** Why the actor takes no more messages. Undefined while it takes them. */
  readonly ended: DeliveryError | undefined;

  /** Returns whether the actor `token` waits, directly or through other actors, for the answer to a queued message. */
  isAwaitedBy(token: readonly [number, number]): boolean;
  /**
   * Runs the actor's `supervise` in a turn of its own. The result may be a promise.
   *
   * @throws what `supervise` throws
   */
  supervise(failure: SupervisedFailure): unknown;
  /** Fails the actor: its callers are answered, then its owner is told. Idempotent. */
  fail(failure: ActorFailure): void;
  /**
   * Fails the actor because code that it had left running threw outside of any handler.
   *
   * @param endpoint the endpoint whose handler started the code, undefined if it was no handler
   */
  failUncaught(error: unknown, endpoint: string | undefined): void;
  /** Reports a message without an answer that could not be delivered. */
  undeliverable(to: string, error: DeliveryError): void;
}
