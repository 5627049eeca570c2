/** The simulator is itself tested: bugs that are planted in the protocol are found, and noticed for what they do. */
import { expect, test } from "vitest";
import "../../runtime/index.js";
import { findSeed } from "./find-seed.js";
import { bugs } from "./planted-bugs.js";

/** So many seeds may be needed. The search begins with the one that is known, since most of the others find nothing. */
const seeds = 1000;

test.each(bugs)("found: $name", async (bug) => {
  const { found, otherwise } = await findSeed(bug, bug.seed, seeds);
  const why = `none of ${seeds} seeds has found it: ${otherwise.slice(0, 3).map(({ message }) => message)}`;
  expect(found, why).toBeDefined();
});

test("there are at least 30, each with a name of its own", () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length);
  expect(bugs.length).toBeGreaterThanOrEqual(30);
});
