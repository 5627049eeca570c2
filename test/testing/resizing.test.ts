/** Tests of `resize` in simulated clusters where casts use trees. */
import { describe, expect, test } from "vitest";
import { onUnhandledFault, type ProcMesh, thisHost } from "../../runtime/index.js";
import { type SimulateOptions, type Simulation, simulate } from "../../runtime/testing/index.js";
import { Counter, type CounterMesh } from "../actor/counter.js";
import { forgetHandled, numbersByLife, Slow, type SlowMesh } from "./slow.js";

const apart: SimulateOptions = { place: ({ rank }) => `host${rank}` };
const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

function spawnCounters(procs: ProcMesh<"gpus">): CounterMesh<"gpus"> {
  return procs.spawn("counters", Counter as never, ...([0] as never)) as unknown as CounterMesh<"gpus">;
}

const resizeOf = <M>(procs: ProcMesh<"gpus">, actors: M): M => procs.resizeActors(actors as never) as M;

/** Returns the outcome of a call for each rank: its answer, or which end of its actor the error names. */
async function outcomes(counters: CounterMesh<"gpus">): Promise<(number | string)[]> {
  const settled = await counters.value.callSettled();
  return Array.from(settled.values(), (each) => {
    if (each.status === "fulfilled") return each.value;
    const { message } = each.reason as Error;
    return message.includes("it has left the mesh: mesh \"procs\" was resized to {'gpus': 3}") ? "left" : "lost";
  });
}

test("a mesh of 70 processes grows to 100, loses a process inside of its tree, and shrinks to 3", async () => {
  await simulate(async (simulation) => {
    const told: string[] = [];
    onUnhandledFault(({ mesh, ranks }) => void told.push(`${mesh} ${ranks}`));
    const procs = thisHost().spawnProcs({ gpus: 70 });
    const counters = spawnCounters(procs);
    await counters.increment.call(1);
    const more = procs.resize({ gpus: 100 });
    const all = resizeOf(more, counters);
    // More than one cast: the second one shows whether the casts to ranks that have joined are counted.
    for (let i = 0; i < 3; i++) await all.increment.call(1);
    expect(await outcomes(all)).toEqual(upTo(100).map((rank) => (rank < 70 ? 4 : 3)));
    expect(await outcomes(counters)).toEqual(upTo(70).map(() => 4));
    // The root passes messages on to 16 processes, the first of 16 parts. Rank 7 begins the second part.
    simulation.crash(simulation.processes.find(({ name }) => name.startsWith("gpus=7@"))!);
    await simulation.sleep(1000);
    expect(await outcomes(all)).toEqual(upTo(100).map((rank) => (rank === 7 ? "lost" : rank < 70 ? 4 : 3)));
    expect(told).toEqual(["procs 7"]);
    const less = more.resize({ gpus: 90 });
    await less.ready;
    expect((await outcomes(resizeOf(less, all))).filter((each) => each === "lost")).toHaveLength(1);
    const fewer = less.resize({ gpus: 3 });
    await fewer.ready;
    expect(await outcomes(resizeOf(fewer, all))).toEqual([4, 4, 4]);
    expect(await outcomes(counters)).toEqual(upTo(70).map((rank) => (rank < 3 ? 4 : "left")));
    // The ranks return with fresh state, and the lost one with them.
    const again = fewer.resize({ gpus: 100 });
    expect(await outcomes(resizeOf(again, all))).toEqual(upTo(100).map((rank) => (rank < 3 ? 4 : 0)));
    expect(told).toEqual(["procs 7"]);
  }, apart);
});

describe.each(upTo(8).map((seed) => seed + 1))("seed %i", (seed) => {
  const many = 40;
  const options: SimulateOptions = {
    seed,
    limits: { treeAbove: 1, treeFanout: 1 + (seed % 2), creditMessages: 16 },
    place: ({ rank }) => `host${rank}`,
    network: { latency: [0.1, 20], bandwidth: 100_000 },
  };
  const drain = 100_000;

  async function play(
    scenario: (simulation: Simulation, procs: ProcMesh<"gpus">, actors: SlowMesh<"gpus">) => Promise<void>,
  ): Promise<void> {
    forgetHandled();
    await simulate(async (simulation) => {
      const procs = thisHost().spawnProcs({ gpus: 5 });
      const actors = procs.spawn("actors", Slow as never, ...([] as never)) as unknown as SlowMesh<"gpus">;
      await actors.ready;
      await scenario(simulation, procs, actors);
    }, options);
  }

  test("ranks that leave handle all casts that their owner has sent before, and none that it sends later", async () => {
    await play(async (_, procs, actors) => {
      for (let number = 0; number < many; number++) void actors.note.broadcast(number, 5);
      const fewer = procs.resize({ gpus: 3 }, { drain });
      const kept = resizeOf(fewer, actors);
      for (let number = many; number < 2 * many; number++) void kept.note.broadcast(number, 1);
      await fewer.ready;
      await kept.sum.call(0, 0);
    });
    expect(upTo(5).map(numbersByLife)).toEqual(upTo(5).map((rank) => [upTo(rank < 3 ? 2 * many : many)]));
  });

  test("ranks that leave handle all casts that another process has sent before it knows", async () => {
    await play(async (simulation, procs, actors) => {
      await (actors.slice({ gpus: 0 }) as unknown as SlowMesh).pass.call(actors as unknown as SlowMesh, many);
      await simulation.sleep(seed);
      const fewer = procs.resize({ gpus: 3 }, { drain });
      await fewer.ready;
      await resizeOf(fewer, actors).sum.call(0, 0);
    });
    expect(upTo(5).map(numbersByLife)).toEqual(upTo(5).map(() => [upTo(many)]));
  });

  test("casts to ranks that return reach the new actors, while the old ones handle what was sent to them", async () => {
    await play(async (_, procs, actors) => {
      for (let number = 0; number < many; number++) void actors.note.broadcast(number, 5);
      const fewer = procs.resize({ gpus: 3 }, { drain });
      const back = fewer.resize({ gpus: 5 });
      const all = resizeOf(back, actors);
      for (let number = many; number < 2 * many; number++) void all.note.broadcast(number, 1);
      await back.ready;
      await all.sum.call(0, 0);
    });
    const both = [upTo(many), upTo(2 * many).slice(many)];
    expect(upTo(5).map(numbersByLife)).toEqual(upTo(5).map((rank) => (rank < 3 ? [upTo(2 * many)] : both)));
  });
});
