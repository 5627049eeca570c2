/** Creates the cast sender by which an actor casts to one mesh: connects the casts with the actor's sessions. */

import { CastSender } from "../../cast/sender/cast-sender.js";
import type { CastSenderHost } from "../../cast/sender/cast-view.js";
import type { CastInterface } from "../../cast/tree/tree-setup.js";
import { DeliveryError } from "../../link/errors.js";
import type { BoundEndpoint, PeerSchema } from "../../link/frame/binding.js";
import type { Session } from "../../link/outbound/session.js";
import { readCallError } from "../delivery/error-codec.js";
import type { ActorSender, LocalActor } from "../reference/local-actor.js";
import { ActorTarget, type MeshRecord } from "../reference/mesh-record.js";
import { compareSchemas } from "../schema/compare-schemas.js";

/** The sending side of an actor, which owns cast senders. */
export interface CastSenderOwner extends ActorSender {
  readonly actor: LocalActor;
  /** Called when a cast sender has work. */
  castSenderActive(castSender: CastSender): void;
  /**
   * Called when a cast sender has no more work.
   *
   * @param ended whether there will be no next cast
   */
  castSenderIdle(record: MeshRecord, castSender: CastSender, ended: boolean): void;
}

/** @param sessions the sessions that the actor has opened before its first cast to the mesh */
export function createCastSender(owner: CastSenderOwner, record: MeshRecord, sessions: Iterable<Session>): CastSender {
  const { actor } = owner;
  const { proc } = actor;
  const host: CastSenderHost = {
    router: proc.casts,
    sender: { ...actor.id, name: actor.name },
    keepAlive: proc.keepAlive,
    undeliverable: (label, error) => actor.undeliverable(label, error),
    targetEnded: (base) => owner.targetEnded(record.target(base)),
    openSession: (base) => openSessionIfPossible(owner, record.target(base)),
    unhandledMessages: (base) => record.target(base).leavingOf(owner),
    compare: (base: number, known: CastInterface, other: PeerSchema) =>
      compareSchemas(record.target(base), known, other),
    translate: (known: CastInterface, endpoint: BoundEndpoint, body) => owner.translate(known, endpoint, body),
    readError: readCallError,
    senderActive: () => {
      proc.casts.senders.add(castSender);
      record.castSenders.add(castSender);
      owner.castSenderActive(castSender);
    },
    senderIdle: (ended) => {
      proc.casts.senders.delete(castSender);
      record.castSenders.delete(castSender);
      owner.castSenderIdle(record, castSender, ended);
    },
  };
  const castSender = new CastSender(host, record);
  for (const session of sessions) {
    const { target } = session;
    if (target instanceof ActorTarget && target.mesh === record) castSender.attachSession(session, target.rank, true);
  }
  return castSender;
}

function openSessionIfPossible(sender: ActorSender, target: ActorTarget): void {
  try {
    sender.session(target, target, target.location);
  } catch (error) {
    // The actor's process or the sender has ended, so there is nothing to wait for.
    if (!(error instanceof DeliveryError)) throw error;
  }
}
