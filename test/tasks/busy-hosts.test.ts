/** Tests that tasks run on a host that has room, however busy the others are. */
import { expect, test } from "vitest";
import { CountedHosts } from "./counted-hosts.js";

const taskClass = { resources: { cpus: 1 }, environment: undefined, bundle: undefined, maxCalls: 1 };
const seeds = Array.from({ length: 100 }, (_, seed) => seed + 1);

/** Runs a task on hosts of which only the last one is not busy. Returns the host on which it has run. */
async function runOnIdle(count: number, seed: number): Promise<number[]> {
  const busy = Array.from({ length: count - 1 }, (_, index) => index);
  const hosts = new CountedHosts(count, { home: -1, seed, busy });
  const done = hosts.run(taskClass);
  // One more than the number of hosts is asked in each round at most, so that the rounds suffice.
  for (let round = 0; round < 20; round++) {
    hosts.pass(50);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(hosts.runs.size, `${count} hosts, seed ${seed}`).toBe(1);
  await done;
  return [...hosts.runs.keys()];
}

test.each([2, 3, 40])(
  "the only one of %d hosts that has room gets the task, whatever the random numbers are",
  async (count) => {
    for (const seed of seeds) expect(await runOnIdle(count, seed)).toEqual([count - 1]);
  },
);
