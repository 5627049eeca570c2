/** Tests the simulation of tasks: it finds planted bugs of the scheduler, by the invariants that they violate. */
import { expect, test } from "vitest";
import { findSeed } from "../../testing/find-seed.js";
import { bugs } from "./planted-bugs.js";
import { taskWorkload } from "./task-workload.js";

/** The seeds of the short profile. The search starts with the known seed, because some others do not find the bug. */
const seeds = 100;

test.each(bugs)("found: $name", async (bug) => {
  expect(bug.seed).toBeLessThanOrEqual(seeds);
  const { found, otherwise } = await findSeed(taskWorkload, bug, bug.seed, seeds - bug.seed + 1);
  const why = `no seed up to ${seeds} has found it: ${otherwise.slice(0, 3).map(({ message }) => message)}`;
  expect(found, why).toBeDefined();
});

test("planted bugs have distinct names", () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
});
