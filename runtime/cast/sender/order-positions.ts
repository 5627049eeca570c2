/** The positions of casts in the order of their sender's messages to each actor. */
import { CastOrdering, type OrderPosition } from "../tree/cast-frame.js";
import type { OrderedCasts } from "./lane-order.js";

/**
 * Gives a new cast the next position for each actor. The cast has no position for an actor that has left the mesh: it is
 * not sent to the actor, and nothing may wait for it there.
 *
 * @param bases the ranks of the receivers in the mesh, in the order of the view
 * @param absent the ranks in the view that have left the mesh
 */
export function takePositions(
  bases: readonly number[],
  absent: ReadonlyMap<number, unknown>,
  { castCounts, unmarkedLanes }: OrderedCasts,
): OrderPosition[] {
  const positions: OrderPosition[] = [];
  let count = 0;
  let index = 0;
  let ordering: number = CastOrdering.plain;
  for (let rank = 0; rank < bases.length; rank++) {
    const base = bases[rank]!;
    const isAbsent = absent.size > 0 && absent.has(rank);
    const before = castCounts[base]!;
    if (!isAbsent) castCounts[base] = before + 1;
    const order = unmarkedLanes.size === 0 ? undefined : unmarkedLanes.get(base);
    const present = order === undefined ? CastOrdering.plain : CastOrdering.marked;
    const own = isAbsent ? CastOrdering.none : present;
    order?.markBefore(before);
    if (count > 0 && before === index && own === ordering) {
      count++;
      continue;
    }
    if (count > 0) positions.push({ count, index, ordering });
    count = 1;
    index = before;
    ordering = own;
  }
  if (count > 0) positions.push({ count, index, ordering });
  return positions;
}
