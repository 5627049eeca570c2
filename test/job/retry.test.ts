/** Tests of further attempts while the API server is away. */
import { expect, test } from "vitest";
import { KubernetesError } from "../../runtime/job/kubernetes/api/kubernetes-error.js";
import { type RetryWorld, retrying } from "../../runtime/job/retry.js";

/** A world in which pauses take no time, and are noted. */
function makeWorld(): RetryWorld & { readonly pauses: number[] } {
  let time = 0;
  const pauses: number[] = [];
  return {
    pauses,
    now: () => time,
    random: () => 1,
    pause: async (ms) => {
      pauses.push(ms);
      time += ms;
    },
  };
}

const away = new KubernetesError("it does not answer", { status: 0 });

test("a request is sent again after growing pauses until it succeeds, and each failure is told", async () => {
  const world = makeWorld();
  let attempts = 0;
  const told: string[] = [];
  const ask = async () => {
    attempts++;
    if (attempts < 5) throw away;
    return "done";
  };
  expect(await retrying(ask, { limit: 60_000, world, onAway: ({ message }) => told.push(message) })).toBe("done");
  expect(world.pauses).toEqual([250, 500, 1000, 2000]);
  expect(told).toEqual(Array(4).fill("it does not answer"));
});

test("the last error is thrown when the limit would be passed", async () => {
  const world = makeWorld();
  await expect(retrying(() => Promise.reject(away), { limit: 30_000, world })).rejects.toBe(away);
  expect(world.pauses.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(30_000);
  expect(world.pauses.at(-1)).toBe(10_000);
});

test("the time that the API server asks for is waited", async () => {
  const world = makeWorld();
  const busy = new KubernetesError("too many requests", { status: 429, retryAfter: 7000 });
  let attempts = 0;
  await retrying(
    async () => {
      attempts++;
      if (attempts === 1) throw busy;
    },
    { limit: 60_000, world },
  );
  expect(world.pauses).toEqual([7000]);
});

test("at most a minute is waited, whatever the API server asks for", async () => {
  const world = makeWorld();
  const busy = new KubernetesError("too many requests", { status: 429, retryAfter: 86_400_000 });
  let attempts = 0;
  const ask = async () => {
    attempts++;
    if (attempts === 1) throw busy;
  };
  await retrying(ask, { limit: 90_000, world });
  expect(world.pauses).toEqual([60_000]);
});

test("a refusal is thrown at once", async () => {
  const world = makeWorld();
  const refused = new KubernetesError("it may not", { status: 403 });
  await expect(retrying(() => Promise.reject(refused), { limit: 60_000, world })).rejects.toBe(refused);
  expect(world.pauses).toEqual([]);
});
