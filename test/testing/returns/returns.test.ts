/** Hosts that are lost and come back in the simulator: `npm run sim -- --workload returns` runs more seeds. */
import { expect, test } from "vitest";
import "../../../runtime/index.js";
import { explore, simulate } from "../../../runtime/testing/index.js";
import { cases } from "../../profile.js";
import { findSeed } from "../find-seed.js";
import { bugs } from "./planted-bugs.js";
import { type Outcome, optionsOf, returns } from "./returns-scenario.js";
import { returnsWorkload } from "./returns-workload.js";

test("equal seeds give equal runs", async () => {
  const [one, other] = [await simulate(returns, optionsOf(3)), await simulate(returns, optionsOf(3))];
  expect(other).toEqual(one);
});

test("ranks with a restart policy live on when their hosts come back, and fail once and in time when they do not", async () => {
  const seeds = cases(20, 1000);
  const sum: Outcome = { deliveries: 0, losses: 0 };
  const finding = await explore(returns, {
    seeds,
    vary: optionsOf,
    onRun: ({ value }) => {
      const { deliveries, losses } = value as Outcome;
      Object.assign(sum, { deliveries: sum.deliveries + deliveries, losses: sum.losses + losses });
    },
  });
  expect(finding?.error.message).toBeUndefined();
  expect(sum.losses).toBeGreaterThan(4 * seeds);
  expect(sum.deliveries).toBeGreaterThan(20 * seeds);
});

test.each(bugs)("found: $name", async (bug) => {
  const { found, otherwise } = await findSeed(returnsWorkload, bug, bug.seed, 100);
  expect(found, `${otherwise.slice(0, 3).map(({ message }) => message)}`).toBeDefined();
});
