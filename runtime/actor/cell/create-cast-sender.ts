/** An actor as one that casts: what its casters need of it. */

import { CastSender } from "../../cast/sender/cast-sender.js";
import type { CastSenderHost } from "../../cast/sender/cast-view.js";
import type { CastInterface } from "../../cast/tree/tree-setup.js";
import { DeliveryError } from "../../link/errors.js";
import type { BoundEndpoint, PeerSchema } from "../../link/frame/binding.js";
import type { Session } from "../../link/outbound/session.js";
import { readCallError } from "../delivery/error-codec.js";
import { ActorTarget, type MeshRecord } from "../reference/mesh-record.js";
import { compareSchemas } from "../schema/compare-schemas.js";
import type { ActorCell } from "./actor-cell.js";

/** @param sessions by which the actor has sent messages */
export function createCastSender(cell: ActorCell, record: MeshRecord, sessions: Iterable<Session>): CastSender {
  const { proc } = cell;
  const host: CastSenderHost = {
    router: proc.casts,
    sender: { ...cell.id, name: cell.name },
    keepAlive: proc.keepAlive,
    undeliverable: (label, error) => cell.undeliverable(label, error),
    targetEnded: (base) => cell.targetEnded(record.target(base)),
    openSession: (base) => openSessionIfPossible(cell, record.target(base)),
    unhandledMessages: (base) => record.target(base).leavingOf(cell),
    compare: (base: number, known: CastInterface, other: PeerSchema) =>
      compareSchemas(record.target(base), known, other),
    translate: (known: CastInterface, endpoint: BoundEndpoint, body) => cell.translate(known, endpoint, body),
    readError: readCallError,
    senderActive: () => {
      proc.casts.senders.add(caster);
      record.castSenders.add(caster);
      cell.castSenderActive(caster);
    },
    senderIdle: (ended) => {
      proc.casts.senders.delete(caster);
      record.castSenders.delete(caster);
      cell.castSenderIdle(record, caster, ended);
    },
  };
  const caster = new CastSender(host, record);
  for (const session of sessions) {
    const { target } = session;
    if (target instanceof ActorTarget && target.mesh === record) caster.attachSession(session, target.rank, true);
  }
  return caster;
}

function openSessionIfPossible(cell: ActorCell, target: ActorTarget): void {
  try {
    cell.session(target, target, target.location);
  } catch (error) {
    // The process of the actor, or the sender itself, is no more: nothing is left to wait for.
    if (!(error instanceof DeliveryError)) throw error;
  }
}
