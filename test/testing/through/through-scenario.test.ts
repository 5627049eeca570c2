/** Drivers whose gateways are lost in the simulator: `npm run sim -- --workload through` runs more seeds. */
import { expect, test } from "vitest";
import "../../../runtime/index.js";
import { explore, simulate } from "../../../runtime/testing/index.js";
import { cases } from "../../profile.js";
import { findSeed } from "../find-seed.js";
import { bugs } from "./planted-bugs.js";
import { type Outcome, optionsOf, through } from "./through-scenario.js";
import { throughWorkload } from "./through-workload.js";

test("equal seeds give equal runs", async () => {
  const [one, other] = [await simulate(through, optionsOf(3)), await simulate(through, optionsOf(3))];
  expect(other).toEqual(one);
});

test("a driver keeps its hosts while a gateway comes back within the absence, and loses them in time when none does", async () => {
  const seeds = cases(20, 1000);
  const sum = { moves: 0, lost: 0 };
  const finding = await explore(through, {
    seeds,
    vary: optionsOf,
    onRun: ({ value }) => {
      const { moves, isLost } = value as Outcome;
      sum.moves += moves;
      if (isLost) sum.lost++;
    },
  });
  expect(finding?.error.message).toBeUndefined();
  expect(sum.moves).toBeGreaterThan(seeds / 2);
  expect(sum.lost).toBeGreaterThan(0);
});

test.each(bugs)("found: $name", async (bug) => {
  const { found, otherwise } = await findSeed(throughWorkload, bug, bug.seed, 100);
  expect(found, `${otherwise.slice(0, 3).map(({ message }) => message)}`).toBeDefined();
});
