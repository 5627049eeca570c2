/** Tests of procs that forward casts and die at random moments: the survivors receive everything once, in order. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { context } from "../../runtime/actor/context.js";
import { range } from "../../runtime/shape/index.js";
import { Counter, delay } from "../actor/counter.js";
import { ascending, play, Recorder, steps } from "../actor/recorder.js";
import { World } from "../actor/world.js";
import { cases, mayHang } from "../profile.js";
import { kill } from "./kill-process.js";

const deaths = fc.array(fc.record({ rank: fc.integer({ min: 1, max: 8 }), after: fc.integer({ min: 0, max: 6 }) }), {
  minLength: 1,
  maxLength: 3,
});

test("when random procs die, the other procs get all casts and direct messages once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(steps, deaths, fc.integer({ min: 1, max: 6 }), async (script, killed, creditMessages) => {
      const world = new World({ creditMessages, treeAbove: 1, treeFanout: 2 });
      const procs = Array.from({ length: 9 }, (_, i) => world.proc(`p${i}`));
      const recorders = world.spawn("recorders", Recorder, [], procs);
      try {
        const played = play(
          recorders,
          script.map((step) => ({ ...step, adverb: step.adverb % 6 })),
        ).catch(() => {});
        for (const { rank, after } of killed) {
          await delay(after);
          kill(world, procs[rank]!);
        }
        await played;
        const dead = new Set(killed.map(({ rank }) => rank));
        const all = [...(await recorders.seen.callSettled()).values()];
        for (const [rank, seen] of all.entries()) {
          expect([rank, seen.status]).toEqual([rank, dead.has(rank) ? "rejected" : "fulfilled"]);
          if (seen.status === "rejected") continue;
          const numbers = seen.value.get("root") ?? [];
          expect([rank, numbers]).toEqual([rank, ascending(numbers)]);
        }
        // The casts that `play` has sent to all ranks before one of its calls was rejected have reached the survivors.
        const sent = script.findIndex(({ adverb, wait }) => wait && adverb !== 0);
        const whole = script
          .slice(0, sent < 0 ? script.length : sent)
          .flatMap(({ adverb, part }, n) => (adverb < 2 && part !== 1 && part !== 2 ? [n] : []));
        const alive = all.flatMap((seen) => (seen.status === "fulfilled" ? [seen.value.get("root") ?? []] : []));
        for (const numbers of alive) expect(whole.filter((n) => !numbers.includes(n))).toEqual([]);
      } finally {
        world.close();
      }
    }),
    { ...mayHang, numRuns: cases(40) },
  );
});

test("casts that get credit only because a proc has died reach the actors that are alive", async () => {
  class Silent extends Counter {
    override async sleep(): Promise<number> {
      const { rank } = context().actor.rank;
      if (rank === 3) await new Promise(() => {});
      return 0;
    }

    // The credit is only one message, so the next message is never taken.
    override async note(text: string, ms: number): Promise<void> {
      if (context().actor.rank.rank === 2) await new Promise(() => {});
      await super.note(text, ms);
    }
  }
  const world = new World({ creditMessages: 1, treeAbove: 1, treeFanout: 4 });
  const procs = Array.from({ length: 4 }, (_, i) => world.proc(`p${i}`));
  const counters = world.spawn<typeof Counter, "gpus">("counters", Silent, [0], procs);
  try {
    counters.slice({ gpus: range(2, 4) }).note.broadcast("0", 0);
    const asked = counters.sleep.callSettled(0);
    for (let n = 1; n <= 3; n++) counters.note.broadcast(`${n}`, 0);
    await delay(20);
    // A failure is reported at once, together with the answers so far. Then one answer is missing.
    const failed = [...procs[3]!.proc.cells()].at(-1)!;
    failed.fail({ kind: "message", error: new Error("told to fail"), at: 0 });
    await delay(20);
    const dead = procs[2]!;
    world.root.proc.peerDown(dead.proc.id, "it was killed");
    kill(world, dead);
    expect([...(await asked).values()].map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "rejected",
    ]);
    const logs = [...(await counters.log.callSettled()).values()];
    for (const log of logs.filter(({ status }) => status === "fulfilled")) {
      const own = (log as { value: string[] }).value.filter((line) => line !== "init" && !line.endsWith("0"));
      expect(own).toEqual(["+1", "-1", "+2", "-2", "+3", "-3"]);
    }
    expect(logs.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected"]);
  } finally {
    world.close();
  }
});
