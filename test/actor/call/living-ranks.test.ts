/** The random choice of a living actor, and the wait of a call for actors that are being restarted. */
import { beforeEach, describe, expect, test } from "vitest";
import { drawLivingRank, pendingRestart, type RanksNeeded } from "../../../runtime/actor/call/living-ranks.js";
import type { ActorCell } from "../../../runtime/actor/cell/actor-cell.js";
import { Downtime } from "../../../runtime/actor/reference/downtime.js";
import type { MeshView } from "../../../runtime/actor/reference/mesh-view.js";
import { settled } from "../parts.js";

const size = 4;
let down: (Downtime | undefined)[];
let numbers: number[];
let sender: ActorCell;
/** The ranks whose downtime was looked up, and the ranks that have a session. */
let asked: number[];
let sessions: Set<number>;
let routes: { hasLostPeers: boolean };
const view = {
  size,
  target: (rank: number) => ({ rank, downtime: down[rank] }),
} as unknown as MeshView;

beforeEach(() => {
  down = new Array(size).fill(undefined);
  numbers = [];
  asked = [];
  sessions = new Set();
  routes = { hasLostPeers: false };
  const proc = {
    routes,
    random: { number: () => numbers.shift() },
    downtimeOf: ({ rank }: { rank: number }) => {
      asked.push(rank);
      return down[rank];
    },
  };
  const knownSession = ({ rank }: { rank: number }) => (sessions.has(rank) ? {} : undefined);
  sender = { proc, outbound: { knownSession } } as unknown as ActorCell;
});

function end(rank: number, lost = false): Downtime {
  const downtime = new Downtime();
  if (lost) downtime.markLost();
  down[rank] = downtime;
  return downtime;
}

describe("the rank that is drawn", () => {
  test("is the first drawn rank whose actor is alive", () => {
    end(0);
    numbers = [0.1, 0.6, 0.9];
    expect(drawLivingRank(view, sender)).toBe(2);
    expect(numbers).toEqual([0.9]);
  });

  test("comes from a list of the living ranks if four draws have found no living actor", () => {
    end(0);
    end(1);
    numbers = [0, 0.1, 0.26, 0.49, 0.5, 0.9];
    expect(drawLivingRank(view, sender)).toBe(3);
    expect(numbers).toEqual([0.9]);
  });

  test("is the last drawn rank if no actor is alive", () => {
    for (let rank = 0; rank < size; rank++) end(rank);
    numbers = [0, 0.3, 0.9, 0.6, 0.1];
    expect(drawLivingRank(view, sender)).toBe(2);
    expect(numbers).toEqual([0.1]);
  });

  test("counts as alive without a lookup of its downtime while a session to it exists", () => {
    numbers = [0.1, 0.3];
    sessions.add(0);
    expect([drawLivingRank(view, sender), drawLivingRank(view, sender)]).toEqual([0, 1]);
    expect(asked).toEqual([1]);
  });

  test("needs a downtime lookup despite its session if the actor has ended or a lost link is unexplained", () => {
    sessions.add(0).add(1);
    end(0);
    numbers = [0.1, 0.3];
    expect(drawLivingRank(view, sender)).toBe(1);
    expect(asked).toEqual([0]);
    routes.hasLostPeers = true;
    numbers = [0.3];
    expect(drawLivingRank(view, sender)).toBe(1);
    expect(asked).toEqual([0, 1]);
  });
});

describe("the wait before a call is sent", () => {
  /** Whether the wait is over; undefined means that the call does not wait. */
  async function isOver(obstacle: Promise<unknown> | undefined): Promise<boolean | undefined> {
    if (obstacle === undefined) return undefined;
    let over = false;
    void obstacle.then(() => {
      over = true;
    });
    await settled();
    return over;
  }
  const each = [
    ["all ranks", "all"],
    ["each rank that is not lost", "each"],
    ["any rank", "any"],
  ] as const satisfies readonly (readonly [string, RanksNeeded])[];

  test.each(each)("to %s is unnecessary if all actors are alive", (_, needed) => {
    expect(pendingRestart(view, sender, needed)).toBe(undefined);
    expect(asked).toEqual([0, 1, 2, 3]);
  });

  test("to all ranks ends when all restarts are complete", async () => {
    const [one, other] = [end(1), end(3)];
    const obstacle = pendingRestart(view, sender, "all");
    expect(await isOver(obstacle)).toBe(false);
    one.end();
    expect(await isOver(obstacle)).toBe(false);
    other.end();
    expect(await isOver(obstacle)).toBe(true);
  });

  test("to all ranks is unnecessary if one rank is lost, because the call fails anyway", () => {
    end(1);
    end(2, true);
    expect(pendingRestart(view, sender, "all")).toBe(undefined);
  });

  test("to each rank ends when all ranks that are not lost are back", async () => {
    const one = end(1);
    end(2, true);
    const obstacle = pendingRestart(view, sender, "each");
    expect(await isOver(obstacle)).toBe(false);
    one.end();
    expect(await isOver(obstacle)).toBe(true);
  });

  test("to each rank is unnecessary if all ranks that have ended are lost", () => {
    end(2, true);
    expect(pendingRestart(view, sender, "each")).toBe(undefined);
  });

  test("to any rank is unnecessary if one actor is alive or all ranks are lost", () => {
    for (const rank of [0, 1, 2]) end(rank);
    expect(pendingRestart(view, sender, "any")).toBe(undefined);
    for (let rank = 0; rank < size; rank++) end(rank, true);
    expect(pendingRestart(view, sender, "any")).toBe(undefined);
  });

  test("to any rank ends when the first restart is complete", async () => {
    end(0, true);
    const returning = [1, 2, 3].map((rank) => end(rank));
    const obstacle = pendingRestart(view, sender, "any");
    expect(await isOver(obstacle)).toBe(false);
    returning[1]!.end();
    expect(await isOver(obstacle)).toBe(true);
  });
});
