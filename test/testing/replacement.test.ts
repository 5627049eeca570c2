/** Tests of `procs.replace` in simulated clusters where casts to more than one actor use trees. */
import { describe, expect, test } from "vitest";
import type { ProcMesh } from "../../runtime/host/mesh/proc-mesh.js";
import { thisHost } from "../../runtime/index.js";
import { range } from "../../runtime/shape/index.js";
import { type SimulateOptions, type Simulation, simulate } from "../../runtime/testing/index.js";
import { forgetHandled, livesOf, numbersOf, pause, Slow, type SlowMesh } from "./slow.js";

/** A drain time in ms that is longer than the program takes. */
const drain = 100_000;
const ranks = 4;
const everyone = Array.from({ length: ranks }, (_, rank) => rank);
/** Number of messages beyond the credit of a sender. */
const many = 40;

function optionsOf(seed: number): SimulateOptions {
  const limits = { treeAbove: 1, treeFanout: 1 + (seed % 2), creditMessages: 16 };
  return { seed, limits, place: ({ rank }) => `host${rank}`, network: { latency: [0.1, 20], bandwidth: 100_000 } };
}

interface Scene {
  readonly simulation: Simulation;
  readonly actors: SlowMesh<"gpus">;
  at(rank: number): SlowMesh;
  /** Replaces the process of a rank. */
  replace(rank: number): Promise<void>;
}

async function play(seed: number, scenario: (scene: Scene) => Promise<void>): Promise<void> {
  forgetHandled();
  await simulate(async (simulation) => {
    const procs = thisHost().spawnProcs({ gpus: ranks });
    const actors = procs.spawn("actors", Slow as never, ...([] as never)) as unknown as SlowMesh<"gpus">;
    await actors.ready;
    await scenario({
      simulation,
      actors,
      at: (rank) => actors.slice({ gpus: rank }) as unknown as SlowMesh,
      replace: (rank) => (procs.slice({ gpus: rank }) as unknown as ProcMesh).replace({ drain }),
    });
  }, optionsOf(seed));
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number);
}

describe.each(upTo(12).map((seed) => seed + 1))("seed %i", (seed) => {
  test("messages to one actor wait for earlier casts of the sender that the old process handles", async () => {
    let over = 0;
    await play(seed, async ({ simulation, actors, at, replace }) => {
      for (let number = 0; number < many; number++) void actors.note.broadcast(number, 20);
      const replaced = replace(1);
      await simulation.sleep(300);
      for (let number = many; number < 2 * many; number++) void at(1).note.broadcast(number, 1);
      await replaced;
      over = simulation.now;
      await at(1).sum.callOne(0, 0);
    });
    // In virtual time, the old process is stopped as soon as it has handled its messages.
    expect(over).toBeLessThan(drain / 10);
    expect([numbersOf(1), livesOf(1)]).toEqual([upTo(2 * many), 2]);
  });

  test("casts wait for earlier messages of the sender that the old process handles", async () => {
    await play(seed, async ({ simulation, actors, at, replace }) => {
      for (let number = 0; number < many; number++) void at(1).note.broadcast(number, 20);
      const replaced = replace(1);
      await simulation.sleep(300);
      for (let number = many; number < 2 * many; number++) void actors.note.broadcast(number, 1);
      await replaced;
      await actors.sum.call(0, 0);
    });
    expect([numbersOf(1), livesOf(1)]).toEqual([upTo(2 * many), 2]);
    for (const rank of [0, 2, 3]) expect(numbersOf(rank)).toEqual(upTo(2 * many).slice(many));
  });

  test("a process that forwards casts stays until they have been answered", async () => {
    const sums: number[] = [];
    await play(seed, async ({ actors, at, replace }) => {
      const slow = at(ranks - 1).sum.callOne(0, 0);
      const sum = actors.sum.reduce("sum", 1, 500);
      const all = actors.sum.call(1, 500);
      await Promise.all([replace(0), replace(1)]);
      sums.push(await sum, [...(await all).values()].length, await slow);
    });
    expect(sums).toEqual([ranks, ranks, 0]);
  });

  test.each(["to one actor", "by casts"])(
    "messages of an old process arrive, also those that wait for credit: %s",
    async (way) => {
      await play(seed, async ({ actors, at, replace }) => {
        const others = actors.slice({ gpus: range(2, ranks) }) as unknown as SlowMesh;
        at(1).pass.broadcast(way === "by casts" ? others : at(2), many);
        await replace(1);
        // The time is longer than the receivers need for the messages.
        await pause(20_000);
      });
      const counts = everyone.map((rank) => numbersOf(rank).length);
      expect(counts).toEqual([0, 0, many, way === "by casts" ? many : 0]);
    },
  );
});
