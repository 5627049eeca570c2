/** The tracker of a restart policy: when a rank is restarted, and when the policy gives up. */
import { expect, test } from "vitest";
import type { PastFailure } from "../../runtime/supervise/mesh-failure.js";
import { planRestart, type RestartOptions, RestartTracker } from "../../runtime/supervise/restart-policy.js";

function failure(message: string): PastFailure {
  return { kind: "message", cause: { name: "Error", message }, at: new Date(0) };
}

function restarts(options: RestartOptions): RestartTracker {
  return new RestartTracker(planRestart(options, "spawn actors"));
}

test("the delay doubles with each restart within the period, and the policy gives up after its limit", () => {
  const account = restarts({ policy: "on-failure", maxRestarts: 3, within: 1000, backoff: 10 });
  const delays = [0, 20, 60, 140].map((now, i) => account.nextDelay(0, failure(`${i}`), now, false));
  expect(delays).toEqual([10, 20, 40, undefined]);
  expect(account.history(0).map(({ cause }) => cause.message)).toEqual(["0", "1", "2"]);
});

test("failures before the period do not count and are not reported", () => {
  const account = restarts({ policy: "on-failure", maxRestarts: 1, within: 1000, backoff: 10 });
  expect(account.nextDelay(0, failure("long ago"), 0, false)).toBe(10);
  expect(account.nextDelay(0, failure("now"), 1000, false)).toBe(10);
  expect(account.nextDelay(0, failure("again"), 1500, false)).toBeUndefined();
  expect(account.history(0).map(({ cause }) => cause.message)).toEqual(["now"]);
});

test("each rank has its own count of restarts", () => {
  const account = restarts({ policy: "always", maxRestarts: 1 });
  expect([0, 1, 0].map((rank) => account.nextDelay(rank, failure(""), 0, false))).toEqual([100, 100, undefined]);
});

test("a rank that ends without a failure is restarted only by `always`, and `never` restarts nothing", () => {
  expect(restarts({ policy: "on-failure" }).nextDelay(0, failure(""), 0, true)).toBeUndefined();
  expect(restarts({ policy: "always" }).nextDelay(0, failure(""), 0, true)).toBe(100);
  expect(restarts({ policy: "never" }).nextDelay(0, failure(""), 0, false)).toBeUndefined();
});

test("without a limit, the back-off is at most 30 s and the history is bounded", () => {
  const account = restarts({ policy: "always", maxRestarts: Number.POSITIVE_INFINITY, within: 1e9, backoff: 1000 });
  let last: number | undefined;
  for (let i = 0; i < 100; i++) last = account.nextDelay(0, failure(`${i}`), i, false);
  expect(last).toBe(30_000);
  expect(account.history(0).map(({ cause }) => cause.message)).toEqual(
    Array.from({ length: 16 }, (_, i) => `${84 + i}`),
  );
});

test("a high limit is respected, and the history has the last 16 failures", () => {
  const account = restarts({ policy: "always", maxRestarts: 40, within: 1e9, backoff: 0 });
  const delays = Array.from({ length: 42 }, (_, i) => account.nextDelay(0, failure(`${i}`), i, false));
  expect(delays).toEqual([...Array(40).fill(0), undefined, undefined]);
  expect(account.history(0).map(({ cause }) => cause.message)).toEqual(
    Array.from({ length: 16 }, (_, i) => `${24 + i}`),
  );
});

test("omitted options have their defaults, and limits accept their extreme values", () => {
  expect(planRestart({ policy: "never" }, "spawn")).toEqual({
    policy: "never",
    maxRestarts: 3,
    within: 60_000,
    backoff: 100,
  });
  const extremes = { policy: "on-failure", maxRestarts: 0, within: Number.MIN_VALUE, backoff: 30_000 } as const;
  expect(planRestart(extremes, "spawn")).toEqual(extremes);
  expect(restarts(extremes).nextDelay(0, failure(""), 0, false)).toBeUndefined();
  expect(restarts({ ...extremes, policy: "never" }).history(7)).toEqual([]);
});

test("a restart from a checkpoint has the policy on-failure by default", () => {
  const store = { write: async () => {}, read: async () => undefined, delete: async () => {} };
  const limits = { maxRestarts: 3, within: 60_000, backoff: 100 };
  expect(planRestart({ from: "checkpoint" }, "spawn")).toEqual({ policy: "on-failure", ...limits, checkpoints: {} });
  expect(planRestart({ from: "checkpoint", policy: "always", every: 0.5, store }, "spawn")).toEqual({
    policy: "always",
    ...limits,
    checkpoints: { every: 0.5, store },
  });
});

test.each<[unknown, string]>([
  [null, "cannot spawn actors: expected restart as an object, got null"],
  [{ policy: "always", maxRestarts: "3" }, 'cannot spawn actors: expected maxRestarts of at least 0, got "3"'],
  [{ policy: "always", maxRestarts: NaN }, "cannot spawn actors: expected maxRestarts of at least 0, got NaN"],
  [{ policy: "always", within: "1 s" }, 'cannot spawn actors: expected within in milliseconds, more than 0, got "1 s"'],
  [{ policy: "always", within: NaN }, "cannot spawn actors: expected within in milliseconds, more than 0, got NaN"],
  [
    { policy: "always", backoff: "1" },
    'cannot spawn actors: expected backoff in milliseconds, from 0 to 30000, got "1"',
  ],
  [{ policy: "always", backoff: -1 }, "cannot spawn actors: expected backoff in milliseconds, from 0 to 30000, got -1"],
  [
    { policy: "always", backoff: 30_001 },
    "cannot spawn actors: expected backoff in milliseconds, from 0 to 30000, got 30001",
  ],
  ["always", 'cannot spawn actors: expected restart as an object, got "always"'],
  [
    { policy: "always", maxRestart: 3 },
    'cannot spawn actors: invalid restart: expected one of the options policy, maxRestarts, within, backoff, from, every, store, got "maxRestart"',
  ],
  [{}, 'cannot spawn actors: expected the policy "never", "on-failure" or "always", got undefined'],
  [{ policy: "sometimes" }, 'expected the policy "never", "on-failure" or "always", got "sometimes"'],
  [{ policy: "always", maxRestarts: -1 }, "cannot spawn actors: expected maxRestarts of at least 0, got -1"],
  [{ policy: "always", maxRestarts: 1.5 }, "expected maxRestarts of at least 0, got 1.5"],
  [{ policy: "always", within: 0 }, "cannot spawn actors: expected within in milliseconds, more than 0, got 0"],
  [{ from: "arguments" }, 'cannot spawn actors: expected restart from "checkpoint", got "arguments"'],
  [
    { policy: "always", every: 1000 },
    'cannot spawn actors: restart.every requires from: "checkpoint", but from is not given',
  ],
  [
    { policy: "always", store: {} },
    'cannot spawn actors: restart.store requires from: "checkpoint", but from is not given',
  ],
  [{ from: "checkpoint", every: 0 }, "cannot spawn actors: expected every in milliseconds, more than 0, got 0"],
  [{ from: "checkpoint", every: "1 s" }, 'cannot spawn actors: expected every in milliseconds, more than 0, got "1 s"'],
  [
    { from: "checkpoint", store: { write() {} } },
    "cannot spawn actors: expected a store with the methods write, read and delete, got ",
  ],
  [{ policy: "always", backoff: 60_000 }, "expected backoff in milliseconds, from 0 to 30000, got 60000"],
])("invalid restart options are refused: %j", (options, message) => {
  expect(() => planRestart(options as RestartOptions, "spawn actors")).toThrow(message);
});
