/** The simulator is itself tested: mistakes that are planted in the protocol are found. */
import { afterEach, expect, test } from "vitest";
import "../../runtime/index.js";
import { simulate } from "../../runtime/testing/index.js";
import { bugs } from "./bugs.js";
import { cluster, optionsOf } from "./cluster.js";

/** So many seeds may be needed. */
const seeds = 1000;

let remove: (() => void) | undefined;
afterEach(() => {
  remove?.();
  remove = undefined;
});

test.each(Object.keys(bugs))("found: %s", async (name) => {
  remove = bugs[name]!();
  let found: Error | undefined;
  let seed = 1;
  for (; seed <= seeds && found === undefined; seed++) {
    await simulate(cluster, optionsOf(seed)).catch((error: Error) => {
      found = error;
    });
  }
  expect(found, `none of ${seeds} seeds has found it`).toBeInstanceOf(Error);
});
