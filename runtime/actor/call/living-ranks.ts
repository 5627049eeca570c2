/**
 * The living ranks of a mesh, as far as a sender knows: `choose` draws from them, and calls with the option `wait` wait
 * until the ranks that they need are alive again.
 */
import type { Downtime } from "../reference/downtime.js";
import type { LocalActor } from "../reference/local-actor.js";
import type { MeshView } from "../reference/mesh-view.js";

/** The number of random draws before all living ranks are listed. */
const MOST_DRAWS = 4;

/**
 * The ranks that a call needs: `all` of them; `each` one that is not lost, because a lost one does not end the call; or
 * `any` one.
 */
export type RanksNeeded = "all" | "each" | "any";

/**
 * Draws a living rank at random. If no rank is alive, the result is a dead one, and a call to it rejects with the reason.
 */
export function drawLivingRank(view: MeshView, sender: LocalActor): number {
  const { size } = view;
  const { random } = sender.proc;
  let rank = 0;
  for (let draws = 0; draws < MOST_DRAWS; draws++) {
    rank = Math.floor(random.number() * size);
    if (isLiving(view, sender, rank)) return rank;
  }
  const living = Array.from({ length: size }, (_, each) => each).filter((each) => isLiving(view, sender, each));
  return living.length === 0 ? rank : living[Math.floor(random.number() * living.length)]!;
}

/** Draws two living ranks at random, and returns the one that has fewer unanswered calls of `sender`. */
export function drawLessLoadedRank(view: MeshView, sender: LocalActor): number {
  const load = (rank: number): number => sender.outbound.knownSession(view.target(rank))?.load ?? 0;
  const a = drawLivingRank(view, sender);
  const b = drawLivingRank(view, sender);
  return load(b) < load(a) ? b : a;
}

/**
 * Returns a promise that settles when ranks that are being restarted, and that a call needs, may be back. Undefined: the
 * call can be sent now, because all needed ranks are alive, or because it must fail, as a needed rank is lost.
 */
export function pendingRestart(view: MeshView, sender: LocalActor, needed: RanksNeeded): Promise<unknown> | undefined {
  const down = downtimes(view, sender);
  const returning = down.filter(({ isLost }) => !isLost);
  if (needed === "any") {
    if (down.length < view.size || returning.length === 0) return undefined;
    return Promise.race(returning.map((each) => each.whenSettled));
  }
  if (needed === "all" && returning.length < down.length) return undefined;
  return returning.length === 0 ? undefined : Promise.all(returning.map((each) => each.whenSettled));
}

/** Returns whether the actor at a rank is alive, as far as `sender` knows. */
export function isLiving(view: MeshView, sender: LocalActor, rank: number): boolean {
  const target = view.target(rank);
  const { proc } = sender;
  // An open session shows that the receiver's process is alive, except while this process finds out why a link ended.
  const isUp = target.downtime === undefined && !proc.routes.hasLostPeers;
  if (isUp && sender.outbound.knownSession(target) !== undefined) return true;
  return proc.downtimeOf(target) === undefined;
}

function downtimes(view: MeshView, { proc }: LocalActor): Downtime[] {
  const down: Downtime[] = [];
  for (let rank = 0; rank < view.size; rank++) {
    const downtime = proc.downtimeOf(view.target(rank));
    if (downtime !== undefined) down.push(downtime);
  }
  return down;
}
