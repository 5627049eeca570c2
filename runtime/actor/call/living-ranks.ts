/** Which ranks of a mesh live, as far as a sender knows: what `choose` draws from, and what calls with `wait` wait for. */
import type { Downtime } from "../reference/downtime.js";
import type { LocalActor } from "../reference/local-actor.js";
import type { MeshView } from "../reference/mesh-view.js";

/** How often a rank is drawn before all living ones are listed. */
const MOST_DRAWS = 4;

/** A living rank, drawn at random. Where none lives, one that does not: a call to it is rejected with the reason. */
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

/** Resolves when what keeps a call to all ranks from being sent now may be over: ranks are being restarted, and none is lost. */
export function restartOfAllRanks(view: MeshView, sender: LocalActor): Promise<unknown> | undefined {
  const down = downtimes(view, sender);
  return down.some(({ isLost }) => isLost) ? undefined : whenAllSettled(down);
}

/** The same for a call that a lost rank does not end. */
export function restartOfEachRank(view: MeshView, sender: LocalActor): Promise<unknown> | undefined {
  return whenAllSettled(downtimes(view, sender).filter(({ isLost }) => !isLost));
}

/** The same for a call to any one rank: none lives, and some are being restarted. */
export function restartOfAnyRank(view: MeshView, sender: LocalActor): Promise<unknown> | undefined {
  const down = downtimes(view, sender);
  const returning = down.filter(({ isLost }) => !isLost);
  if (down.length < view.size || returning.length === 0) return undefined;
  return Promise.race(returning.map((each) => each.whenSettled));
}

function isLiving(view: MeshView, sender: LocalActor, rank: number): boolean {
  const target = view.target(rank);
  const { proc } = sender;
  // A session stands for as long as the process of its receiver does, except while the end of a link is being explained.
  if (target.downtime === undefined && !proc.routes.hasLostPeers && sender.outbound.knownSession(target) !== undefined)
    return true;
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

function whenAllSettled(down: readonly Downtime[]): Promise<unknown> | undefined {
  return down.length === 0 ? undefined : Promise.all(down.map((each) => each.whenSettled));
}
