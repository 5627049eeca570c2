/** Decides whether a message for many actors is cast down a tree of their procs. */

import { AGENT_MESH } from "../../link/address.js";
import type { EncodedMessage } from "../../link/outbound/encoded-message.js";
import { parseRelayedLocation } from "../../link/relayed-location.js";
import type { LocalActor } from "../reference/local-actor.js";
import type { MeshView } from "../reference/mesh-view.js";

/** The bytes that a frame of a cast has besides the message and the ranks, at most. */
const CAST_OVERHEAD_BYTES = 64 * 1024;
/** The bytes that a frame of a cast has for each rank, at most. */
const RANK_BYTES = 12;

/**
 * Returns whether a message to all actors of a view is cast.
 *
 * Agents are called by the procs that have started theirs. Such a proc has a link to each of them before they listen, so
 * it sends to each separately. Threads and inline procs listen nowhere. Everything between them passes through their
 * parent, so their parent sends to each separately, too.
 */
export function usesTree({ proc, outbound }: LocalActor, view: MeshView): boolean {
  const { record, livingCount } = view;
  if (livingCount <= proc.limits.treeAbove || record.id === AGENT_MESH || outbound.ended !== undefined) return false;
  const { location } = view.target(0);
  return record.owner !== proc.id || (location !== "" && parseRelayedLocation(location) === undefined);
}

/** Returns whether a message fits into a frame of a cast. Otherwise it is sent to each actor separately. */
export function fitsTree({ size }: EncodedMessage, { proc }: LocalActor, view: MeshView): boolean {
  return size + CAST_OVERHEAD_BYTES + view.size * RANK_BYTES <= proc.limits.maxFrame;
}
