/** The simulator is itself tested: mistakes that are planted in the protocol are found. */
import { afterEach, expect, test } from "vitest";
import "../../runtime/index.js";
import { simulate } from "../../runtime/testing/index.js";
import { bugs } from "./bugs.js";
import { cluster, optionsOf } from "./cluster.js";

/** So many seeds may be needed. */
const seeds = 1000;

/** Where the search begins that would take long from the first seed on: it finds what is rare. It goes on from there. */
const rare: Readonly<Record<string, number>> = { "who held a port has died, and its receiver waits": 185 };

let remove: (() => void) | undefined;
afterEach(() => {
  remove?.();
  remove = undefined;
});

test.each(Object.keys(bugs))("found: %s", async (name) => {
  remove = bugs[name]!();
  let found: Error | undefined;
  const first = rare[name] ?? 1;
  for (let seed = first; seed < first + seeds && found === undefined; seed++) {
    await simulate(cluster, optionsOf(seed)).catch((error: Error) => {
      found = error;
    });
  }
  expect(found, `none of ${seeds} seeds has found it`).toBeInstanceOf(Error);
});
