/** The functions that await a future, as they are added to the stack of its error. Stacks of whole calls: caller-stack.test.ts. */
import { describe, expect, test } from "vitest";
import { lacksCallerStack, rejectWithCallerStack } from "../../../runtime/actor/call/caller-stack.js";
import { ActorError, DeadlockError, SupervisionError, TimeoutError } from "../../../runtime/actor/errors.js";

const remote = () =>
  new ActorError({
    remoteName: "RangeError",
    message: "refused",
    remoteStack: "RangeError: refused\n    at handler (other.ts:1:1)",
    cause: undefined,
    actor: "counters[1]",
    rank: 1,
    endpoint: "counters.value",
  });

describe("an error", () => {
  test.each([
    ["of a handler", remote()],
    ["of a lost actor", new SupervisionError("counters.value", [1], "it was killed")],
    ["of a timeout", new TimeoutError("late")],
  ])("%s was created when an answer arrived, so its stack lacks the caller", (_, error) => {
    expect(lacksCallerStack(error)).toBe(true);
  });

  test.each([
    ["of the caller itself", new RangeError("no")],
    ["of a deadlock", new DeadlockError("no")],
    ["that is no error", "no"],
  ])("%s is not extended", (_, error) => {
    expect(lacksCallerStack(error)).toBe(false);
  });
});

/** Rejects a promise while a function awaits it. @returns the lines of the error's stack */
async function stackAfterAwait(error: Error): Promise<string[]> {
  let resolve: (value: Promise<never>) => void = () => {};
  const answer = new Promise<never>((then) => {
    resolve = then;
  });
  async function readsTheAnswer(): Promise<void> {
    await answer;
  }
  const reading = readsTheAnswer();
  let found = 0;
  resolve(rejectWithCallerStack(error, () => found++));
  await expect(reading).rejects.toBe(error);
  expect(found).toBe(1);
  return error.stack!.split("\n");
}

const isFrame = (line: string): boolean => /^ {4}at \S/.test(line);
const namesReader = (line: string): boolean => /^ {4}at (async )?readsTheAnswer \(/.test(line);

describe("the stack", () => {
  test("of a timeout has its text and then only the functions that await the answer", async () => {
    const [first, ...frames] = await stackAfterAwait(new TimeoutError("late"));
    expect(first).toBe("TimeoutError: late");
    expect(frames.filter((line) => !isFrame(line))).toEqual([]);
    expect(frames.some(namesReader)).toBe(true);
  });

  test("of an error of a handler keeps the place where it was thrown, and then names the functions", async () => {
    const error = remote();
    const before = error.stack!.split("\n");
    const lines = await stackAfterAwait(error);
    expect(lines.slice(0, before.length + 1)).toEqual([...before, "    called"]);
    const frames = lines.slice(before.length + 1);
    expect(frames.filter((line) => !isFrame(line))).toEqual([]);
    expect(frames.some(namesReader)).toBe(true);
  });
});
