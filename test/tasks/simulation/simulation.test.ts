/** Contexts with tasks in the simulator: `npm run sim -- --workload tasks` runs more seeds. */
import { expect, test } from "vitest";
import { explore, simulate } from "../../../runtime/testing/index.js";
import { cases } from "../../profile.js";
import { optionsOf, tasks } from "./task-scenario.js";

test("equal seeds give equal runs", async () => {
  for (const seed of [1, 2, 3, 4]) {
    const [one, other] = [await simulate(tasks, optionsOf(seed)), await simulate(tasks, optionsOf(seed))];
    expect(other).toEqual(one);
  }
});

test("contexts keep their promises while processes, hosts and links fail", async () => {
  const seeds = cases(100, 1000);
  let runs = 0;
  let faults = 0;
  const finding = await explore(tasks, {
    seeds,
    vary: optionsOf,
    onRun: (run) => {
      runs += (run.value as { readonly deliveries: number }).deliveries;
      faults += run.faults.length;
    },
  });
  expect(finding?.error.message).toBeUndefined();
  expect(runs).toBeGreaterThan(50 * seeds);
  expect(faults).toBeGreaterThan(seeds);
});
