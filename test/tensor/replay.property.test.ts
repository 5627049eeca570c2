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

const plan = (steps: Partial<StepPlan>[], ...events: Event[]): WorldPlan => ({
  optimizer: "SGD",
  steps: steps.map((one) => ({ body: [], gradients: "none", clip: false, optimize: false, results: [], ...one })),
  events,
});
const calling = (given: Partial<Event & { kind: "call" }> = {}): Event => ({
  ...({ kind: "call", step: 0, rows: 2, from: "known", by: 3, noGrad: false } as const),
  ...given,
});

/** Counterexamples of the property, as they were found. */
const found: [string, WorldPlan][] = [
  [
    "code of a step looks at gradients of tensors that its operations do not use",
    plan([{ clip: true }], calling(), calling(), { kind: "replace gradient" }, calling()),
  ],
  [
    "several results share memory",
    plan([{ results: ["hidden", "view", "gradient"] }], ...Array.from({ length: 4 }, () => calling())),
  ],
  [
    "code of a step attaches gradients that are other tensors",
    plan([{ gradients: "flat" }], calling(), calling(), calling(), { kind: "replace gradient" }, calling()),
  ],
  [
    "a call that is not compared has other numbers of optimizers",
    plan(
      [{ gradients: "remove", optimize: true }],
      ...[calling({ rows: 4 }), calling({ rows: 4 }), calling({ rows: 4 }), calling()],
      { kind: "replace gradient" },
      ...[calling({ rows: 4 }), calling({ rows: 4 }), calling(), calling()],
    ),
  ],
  [
    "a parameter that requires no gradient has one",
    plan(
      [{ body: ["bias"], gradients: "accumulate", optimize: true }],
      ...[calling(), { kind: "freeze" } as const, calling(), calling(), calling()],
      ...[{ kind: "remove gradients" } as const, calling(), calling()],
    ),
  ],
  [
    "an argument is a tensor that the step changes",
    plan(
      [{ body: ["weights", "change table"], gradients: "flat" }],
      ...Array.from({ length: 3 }, () => calling({ from: "new" })),
      calling({ from: "table" }),
    ),
  ],
  [
    "one step replaces the gradients that another one uses",
    plan(
      [
        { body: ["weights"], gradients: "flat", optimize: true, results: ["loss"] },
        { body: ["change argument"], gradients: "remove", optimize: true },
      ],
      ...Array.from({ length: 6 }, () => [calling(), calling({ step: 1, from: "new" })]).flat(),
    ),
  ],
];

describeTensors("recorded steps", () => {
  test.each(found)("equal plain steps if %s", async (_, example) => {
    const plain = await runWorld(example, false);
    const one = await runWorld(example, true);
    expect(one.seen).toEqual(plain.seen);
    expect(one.tensors).toBe(plain.tensors);
  });

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
