/**
 * Order: an actor handles the messages of one sender in the order in which they were sent, over all adverbs, slices and
 * routes, whatever the credit.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cases, mayHang, timeLimit } from "../profile.js";
import { ascending, play, Recorder, steps } from "./recorder.js";
import { World } from "./world.js";

test("each actor handles the messages of each sender in order, for any mix of adverbs and slices", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 3, maxLength: 3 }),
      fc.integer({ min: 1, max: 6 }),
      fc.boolean(),
      async (scripts, creditMessages, relayed) => {
        const world = new World({ creditMessages });
        const procs = ["a", "b", "c"].map((name) => world.proc(name));
        const recorders = world.spawn("recorders", Recorder, [], procs);
        const senders = world.spawn("senders", Recorder, [], procs.slice(0, 2));
        await recorders.seen.call();
        if (relayed) for (const { proc } of procs) world.unreachable.add(proc.location);
        try {
          await Promise.all([
            play(recorders, scripts[0]!),
            senders.slice({ gpus: 0 }).play.callOne(recorders, scripts[1]!),
            senders.slice({ gpus: 1 }).play.callOne(recorders, scripts[2]!),
          ]);
          for (const seen of (await recorders.seen.call()).values()) {
            for (const [sender, numbers] of seen) expect([sender, numbers]).toEqual([sender, ascending(numbers)]);
          }
          const [first] = [...(await recorders.seen.call()).values()];
          for (const [i, sender] of ["root", "senders[0]", "senders[1]"].entries()) {
            const all = scripts[i]!.flatMap(({ adverb }, n) => (adverb === 4 ? [] : [n]));
            expect(all.filter((n) => !(first?.get(sender) ?? []).includes(n))).toEqual([]);
          }
        } finally {
          world.close();
        }
      },
    ),
    { ...mayHang, numRuns: cases(60), interruptAfterTimeLimit: timeLimit(25_000, 200_000) },
  );
});
