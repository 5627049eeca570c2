/** Steps that are recorded and replayed have the results of the same steps without recording, bit by bit. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cases } from "../profile.js";
import { describeTensors } from "./addon.js";
import { type Event, instructions, runWorld, type StepPlan, type WorldPlan } from "./replay-world.js";

const step: fc.Arbitrary<StepPlan> = fc.record({
  body: fc.array(fc.constantFrom(...instructions), { maxLength: 6 }),
  gradients: fc.constantFrom("none", "replace", "replace", "replace", "accumulate", "remove", "flat"),
  clip: fc.boolean(),
  optimize: fc.boolean(),
  results: fc.uniqueArray(fc.constantFrom("loss", "hidden", "view", "argument", "parameter", "gradient"), {
    maxLength: 3,
  }),
});

const call: fc.Arbitrary<Event> = fc.record({
  kind: fc.constant("call"),
  step: fc.nat(2),
  rows: fc.constantFrom(2, 2, 2, 4),
  from: fc.constantFrom("new", "new", "known", "known", "table", "view of table"),
  by: fc.constantFrom(3, 3, 3, 0.5),
  noGrad: fc.constantFrom(false, false, false, true),
});

const other = fc.constantFrom<Event>(
  { kind: "change parameter" },
  { kind: "remove gradients" },
  { kind: "hold gradient" },
  { kind: "view gradient" },
  { kind: "release" },
  { kind: "change rate" },
  { kind: "reset" },
  { kind: "freeze" },
  { kind: "replace gradient" },
  { kind: "change result" },
  { kind: "build graph" },
  { kind: "use graph" },
  { kind: "draw" },
  { kind: "checkpoint" },
  { kind: "fail", step: 0 },
);

/** The same call several times, and then something else. */
const part = fc
  .tuple(
    fc.array(call, { minLength: 1, maxLength: 2 }),
    fc.integer({ min: 1, max: 5 }),
    fc.array(other, { maxLength: 2 }),
  )
  .map(([calls, times, others]) => [...Array.from({ length: times }, () => calls).flat(), ...others]);

const world: fc.Arbitrary<WorldPlan> = fc.record({
  optimizer: fc.constantFrom("SGD", "momentum", "Adam", "AdamW"),
  steps: fc.array(step, { minLength: 1, maxLength: 2 }),
  events: fc.array(part, { minLength: 2, maxLength: 6 }).map((parts) => parts.flat()),
});

describeTensors("recorded steps", () => {
  test("equal plain steps in everything that can be seen", { timeout: 600_000 }, async () => {
    let replayed = 0;
    await fc.assert(
      fc.asyncProperty(world, async (plan) => {
        const plain = await runWorld(plan, false);
        const one = await runWorld(plan, true);
        replayed += one.replayed;
        expect(one.seen).toEqual(plain.seen);
        expect(one.tensors).toBe(plain.tensors);
      }),
      { numRuns: cases(150) },
    );
    // Most plans repeat calls often enough.
    expect(replayed).toBeGreaterThan(cases(150));
    if (process.env["VICEROY_COUNT_REPLAYS"] !== undefined) console.log(`${replayed} calls replayed`);
  });
});
