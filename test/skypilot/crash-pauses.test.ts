/** Tests of the pauses before a cluster is launched again for hosts that crash. */
import { expect, test } from "vitest";
import { CrashPauses } from "../../runtime/job/skypilot/cluster/crash-pauses.js";

const minute = 60_000;

/** Returns the pauses of losses. Each one follows the launch before after a number of milliseconds. */
function pausesOf(losses: readonly { after: number; isMachineLost?: boolean }[]): number[] {
  let now = 1_000_000;
  const pauses = new CrashPauses(() => now);
  return losses.map(({ after, isMachineLost = false }) => {
    now += after;
    const ms = pauses.next(isMachineLost);
    pauses.launched();
    return ms;
  });
}

test("the first crash has no pause, and each one that follows soon has a longer one, to a limit", () => {
  const seconds = pausesOf(Array.from({ length: 10 }, () => ({ after: 1000 }))).map((ms) => ms / 1000);
  expect(seconds).toEqual([0, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
});

test("hosts that have run for ten minutes begin anew", () => {
  expect(pausesOf([1000, 1000, 10 * minute - 1, 10 * minute, 1000].map((after) => ({ after })))).toEqual([
    0, 4000, 8000, 0, 4000,
  ]);
});

test("machines that were taken away are replaced without a pause", () => {
  const losses = [{ after: 0 }, { after: 1 }, { after: 1, isMachineLost: true }, { after: 1 }];
  expect(pausesOf(losses)).toEqual([0, 4000, 0, 4000]);
});
