/** The end of the supervision tree: a report on the standard error and exit code 1, or a hook. */
import { beforeEach, expect, test } from "vitest";
import { MeshFailure } from "../../runtime/supervise/mesh-failure.js";
import { UnhandledFaults } from "../../runtime/supervise/unhandled-faults.js";

const failure = new MeshFailure({
  mesh: "workers",
  ranks: [0],
  kind: "message",
  cause: { name: "Error", message: "out of iron" },
  at: new Date(0),
  affected: [],
});

const printed: string[] = [];
const codes: (number | undefined)[] = [];
beforeEach(() => {
  printed.length = 0;
  codes.length = 0;
});

function faults(): UnhandledFaults {
  return new UnhandledFaults({ print: (text) => void printed.push(text), exit: (code) => void codes.push(code) });
}

test("without a hook, the report is printed and the process exits with code 1", async () => {
  await faults().handle(failure);
  expect(printed).toEqual([`unhandled fault: ${failure.report()}\n`]);
  expect(codes).toEqual([1]);
});

test("a hook takes the failure instead, and is awaited", async () => {
  const it = faults();
  const taken: MeshFailure[] = [];
  it.replaceHook(async (each) => {
    await Promise.resolve();
    taken.push(each);
  });
  await it.handle(failure);
  expect([taken, printed, codes]).toEqual([[failure], [], []]);
});

test("a hook that throws or rejects is reported, and the process exits as without a hook", async () => {
  for (const hook of [
    () => Promise.reject(new Error("hook")),
    () => {
      throw new Error("hook");
    },
  ]) {
    const it = faults();
    it.replaceHook(hook);
    await it.handle(failure);
  }
  expect(codes).toEqual([1, 1]);
  expect(printed[0]).toMatch(/^the hook for unhandled faults threw: Error: hook\n/);
  expect(printed[1]).toBe(`unhandled fault: ${failure.report()}\n`);
});

test("replaceHook sets another hook or none, and returns the previous hook", async () => {
  const it = faults();
  const hook = () => {};
  expect(it.replaceHook(hook)).toBeUndefined();
  expect(it.replaceHook(undefined)).toBe(hook);
  await it.handle(failure);
  expect(codes).toEqual([1]);
});
