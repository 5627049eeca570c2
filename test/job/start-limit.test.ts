/** Tests of the time limits for hosts that start, with a clock that the test moves. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { meshLimits, startLimit } from "../../runtime/job/start-limit.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const option = 'launchTimeout of mesh "slow"';
const limits = () => meshLimits(["fast", "other", "slow"], { slow: { ms: 5000, option } }, 1000);

/** Starts the limits of a job whose meshes are missing as the set says. */
function start(missing: ReadonlySet<string>) {
  return startLimit(
    limits(),
    (mesh) => missing.has(mesh),
    () => {},
  );
}

test("meshes without a limit of their own share that of the job", () => {
  expect(limits()).toEqual([
    { ms: 1000, option: "hostTimeout", meshes: ["fast", "other"] },
    { ms: 5000, option, meshes: ["slow"] },
  ]);
  expect(meshLimits(["slow"], { slow: { ms: 5000, option } }, 1000)).toEqual([{ ms: 5000, option, meshes: ["slow"] }]);
});

test("the limit of a mesh that is up does not end the wait for another one", () => {
  const missing = new Set(["fast", "slow"]);
  const late = start(missing);
  missing.delete("fast");
  vi.advanceTimersByTime(4999);
  expect(late.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(late.passed).toEqual({ ms: 5000, option, meshes: ["slow"] });
  expect(late.signal.aborted).toBe(true);
});

test("the shorter limit passes first if its mesh is not up", () => {
  const late = start(new Set(["other", "slow"]));
  vi.advanceTimersByTime(1000);
  expect(late.passed?.option).toBe("hostTimeout");
});

test("the time of a mesh that waits for its scheduler does not count, and that of others does", () => {
  const missing = new Set(["fast", "slow"]);
  const late = start(missing);
  late.report({ kind: "pending", mesh: "fast", rank: 0, reason: "there is no node" });
  vi.advanceTimersByTime(3000);
  expect(late.passed).toBe(undefined);
  late.report({ kind: "starting", mesh: "fast", rank: 0, reason: "it has a node" });
  vi.advanceTimersByTime(999);
  expect(late.passed).toBe(undefined);
  vi.advanceTimersByTime(1);
  expect(late.passed?.option).toBe("hostTimeout");
});

test("a host that is lost after its mesh was up has the time limit again", () => {
  const missing = new Set(["slow"]);
  const late = start(missing);
  vi.advanceTimersByTime(4000);
  missing.add("fast");
  late.report({ kind: "starting", mesh: "fast", rank: 0, reason: "its pod is replaced" });
  late.report({ kind: "pending", mesh: "slow", rank: 0, reason: "there is no node" });
  vi.advanceTimersByTime(1000);
  expect(late.passed?.option).toBe("hostTimeout");
});

test("the limits end when nobody waits any more", () => {
  start(new Set(["slow"])).end();
  expect(vi.getTimerCount()).toBe(0);
});
