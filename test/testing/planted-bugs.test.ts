/** Tests the simulator: it finds planted bugs of the protocol, by the invariants that they violate. */
import { expect, test } from "vitest";
import "../../runtime/index.js";
import { clusterWorkload } from "./cluster-workload.js";
import { findSeed } from "./find-seed.js";
import { bugs } from "./planted-bugs.js";

/** Maximum number of seeds. The search starts with the known seed, because most others do not find the bug. */
const seeds = 1000;

test.each(bugs)("found: $name", async (bug) => {
  const { found, otherwise } = await findSeed(clusterWorkload, bug, bug.seed, seeds);
  const why = `none of ${seeds} seeds has found it: ${otherwise.slice(0, 3).map(({ message }) => message)}`;
  expect(found, why).toBeDefined();
});

test("there are at least 30 planted bugs with distinct names", () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  expect(bugs.length).toBeGreaterThanOrEqual(30);
});
