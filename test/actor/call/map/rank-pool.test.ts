/** The places that a `map` gives its items to: which rank is next, and what happens to the places of a rank that is down. */
import { beforeEach, describe, expect, test } from "vitest";
import { RankPool } from "../../../../runtime/actor/call/map/rank-pool.js";
import type { ActorCell } from "../../../../runtime/actor/cell/actor-cell.js";
import { Downtime } from "../../../../runtime/actor/reference/downtime.js";
import type { MeshView } from "../../../../runtime/actor/reference/mesh-view.js";
import { settled } from "../../parts.js";

let down: (Downtime | undefined)[];
/** The number of holds that keep the process alive. */
let holds: number;
let told: string[];

beforeEach(() => {
  down = [];
  holds = 0;
  told = [];
});

function pool(size: number, places: number): RankPool {
  const view = {
    size,
    target: (rank: number) => ({ rank, downtime: down[rank] }),
  } as unknown as MeshView;
  const proc = {
    routes: { hasLostPeers: false },
    downtimeOf: ({ rank }: { rank: number }) => down[rank],
    keepAlive: { hold: () => holds++, release: () => holds-- },
  };
  const sender = { proc, outbound: { knownSession: () => undefined } } as unknown as ActorCell;
  return new RankPool(view, sender, places, {
    rankBack: () => told.push("a rank is back"),
    allLost: () => told.push("all ranks are lost"),
  });
}

function end(rank: number): Downtime {
  const downtime = new Downtime();
  down[rank] = downtime;
  return downtime;
}

function restart(rank: number): Promise<void> {
  const downtime = down[rank]!;
  down[rank] = undefined;
  downtime.end();
  return settled();
}

function lose(rank: number): Promise<void> {
  down[rank]!.markLost();
  return settled();
}

function takeAll(from: RankPool): number[] {
  const ranks: number[] = [];
  for (let rank = from.take(); rank !== undefined; rank = from.take()) ranks.push(rank);
  return ranks;
}

describe("the places of living ranks", () => {
  test("are taken rank by rank, so that the first items go to different ranks", () => {
    expect(takeAll(pool(3, 2))).toEqual([0, 1, 2, 0, 1, 2]);
  });

  test("are taken again after they were released, and first if they were not used", () => {
    const ranks = pool(3, 1);
    takeAll(ranks);
    ranks.release(2);
    ranks.release(0);
    ranks.putBack(1);
    expect(takeAll(ranks)).toEqual([1, 2, 0]);
  });
});

describe("a rank that is down", () => {
  test("is passed over, and all its places are free again when it is back", async () => {
    const ranks = pool(3, 2);
    end(1);
    expect(takeAll(ranks)).toEqual([0, 2, 0, 2]);
    expect(told).toEqual([]);
    await restart(1);
    expect(told).toEqual(["a rank is back"]);
    expect(takeAll(ranks)).toEqual([1, 1]);
  });

  test("gets back the places whose calls have failed, and that were free", async () => {
    const ranks = pool(2, 3);
    expect([ranks.take(), ranks.take()]).toEqual([0, 1]);
    end(1);
    ranks.release(1);
    ranks.rankFailed(1);
    expect(takeAll(ranks)).toEqual([0, 0]);
    await restart(1);
    expect(takeAll(ranks)).toEqual([1, 1, 1]);
  });

  test("is used at once if it is back before its failure is recorded", () => {
    const ranks = pool(2, 1);
    takeAll(ranks);
    ranks.release(1);
    ranks.rankFailed(1);
    expect(takeAll(ranks)).toEqual([1]);
    expect([holds, told]).toEqual([0, []]);
  });

  test("keeps the process alive once until it is back, however many calls to it fail", async () => {
    const ranks = pool(3, 2);
    end(1);
    ranks.rankFailed(1);
    ranks.rankFailed(1);
    expect(holds).toBe(1);
    await restart(1);
    expect(holds).toBe(0);
    expect(told).toEqual(["a rank is back"]);
  });

  test("is waited for again if it is down again when its restart is reported", async () => {
    const ranks = pool(2, 1);
    const first = end(1);
    expect(takeAll(ranks)).toEqual([0]);
    end(1);
    first.end();
    await settled();
    expect([takeAll(ranks), holds]).toEqual([[], 1]);
    await restart(1);
    expect([takeAll(ranks), holds]).toEqual([[1], 0]);
  });

  test("keeps the process alive as long as any other rank that is down", async () => {
    const ranks = pool(3, 1);
    end(0);
    end(1);
    expect(takeAll(ranks)).toEqual([2]);
    expect(holds).toBe(1);
    await restart(0);
    expect(holds).toBe(1);
    await restart(1);
    expect(holds).toBe(0);
    expect(takeAll(ranks)).toEqual([0, 1]);
  });
});

describe("a rank that is lost", () => {
  test("is never taken, and does not keep the process alive", async () => {
    const ranks = pool(2, 2);
    end(0).markLost();
    expect(takeAll(ranks)).toEqual([1, 1]);
    await settled();
    expect([holds, told]).toEqual([0, []]);
  });

  test("can be lost while it is waited for, which ends the wait", async () => {
    const ranks = pool(2, 2);
    end(0);
    takeAll(ranks);
    await lose(0);
    expect([takeAll(ranks), holds]).toEqual([[], 0]);
    expect(told).not.toContain("all ranks are lost");
  });

  test("is reported when it is the last one", async () => {
    const ranks = pool(2, 1);
    end(0).markLost();
    end(1);
    expect(takeAll(ranks)).toEqual([]);
    expect(told).toEqual([]);
    await lose(1);
    expect(told).toContain("all ranks are lost");
  });
});

describe("a pool that is closed", () => {
  test("stops keeping the process alive, and reports no restart", async () => {
    const ranks = pool(2, 1);
    end(0);
    end(1);
    takeAll(ranks);
    expect(holds).toBe(1);
    ranks.close();
    ranks.close();
    expect(holds).toBe(0);
    await restart(0);
    await restart(1);
    expect([holds, told]).toEqual([0, []]);
  });

  test("releases nothing if no rank is waited for", () => {
    const ranks = pool(2, 1);
    ranks.close();
    expect(holds).toBe(0);
  });
});
