/** Tests of order over trees, like test/actor/order.test.ts, with casts that are sent over trees. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { ascending, play, Recorder, steps } from "../actor/recorder.js";
import { World } from "../actor/world.js";
import { cases, mayHang, timeLimit } from "../profile.js";

test("each actor gets each sender's casts, slice casts and direct messages once and in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 3 }),
      async (scripts, creditMessages, treeFanout) => {
        const world = new World({ creditMessages, treeAbove: 1, treeFanout });
        const procs = ["a", "b", "c", "d", "e"].map((name) => world.proc(name));
        const recorders = world.spawn("recorders", Recorder, [], procs);
        const senders = world.spawn("senders", Recorder, [], procs.slice(0, 2));
        try {
          await Promise.all([
            play(recorders, scripts[0]!),
            senders.slice({ gpus: 0 }).play.callOne(recorders, scripts[1]!),
            senders.slice({ gpus: 1 }).play.callOne(recorders, scripts[2]!),
          ]);
          const all = [...(await recorders.seen.call()).values()];
          for (const seen of all) {
            for (const [sender, numbers] of seen) expect([sender, numbers]).toEqual([sender, ascending(numbers)]);
          }
          for (const [i, sender] of ["root", "senders[0]", "senders[1]"].entries()) {
            const whole = scripts[i]!.flatMap(({ adverb }, n) => (adverb === 4 ? [] : [n]));
            expect(whole.filter((n) => !(all[0]?.get(sender) ?? []).includes(n))).toEqual([]);
          }
        } finally {
          world.close();
        }
      },
    ),
    { ...mayHang, numRuns: cases(60), interruptAfterTimeLimit: timeLimit(25_000, 200_000) },
  );
});
