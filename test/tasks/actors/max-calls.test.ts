/** What `maxCalls` of actors promises in every isolation: no call is lost, none is handled twice, and their order is kept. */
import { JobContext, TaskError } from "viceroy/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LeakyClasses, loadLeaky } from "./leaky.js";

let classes: LeakyClasses;
beforeAll(async () => {
  classes = await loadLeaky();
});

const texts = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

describe.each(["inline", "thread", "process"] as const)("with isolation %s", (isolation) => {
  let context: JobContext;
  beforeAll(async () => {
    context = await JobContext.open({ procs: 1, isolation });
  });
  afterAll(() => context.close());

  test("each process handles as many calls as the actor allows, also of calls that were sent at once, and state passes on", async () => {
    const actor = await context.actor(classes.Remembering, [], { maxCalls: 3 });
    const places = await context.get(texts(10).map((text) => actor.add.run(text)));
    expect(places.map(({ incarnation }) => incarnation)).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 3]);
    expect(places.map(({ before }) => before)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    const pids = new Set(places.map(({ pid }) => pid));
    expect(pids.size).toBe(isolation === "process" ? 4 : 1);
    expect(await actor.log.callOne()).toEqual(["first", ...texts(10)]);
    await actor.stop();
  });

  test("an actor without save begins again with the arguments of its constructor", async () => {
    const actor = await context.actor(classes.Forgetful, ["start"], { maxCalls: 2 });
    const places = await context.get(texts(5).map((text) => actor.add.run(text)));
    expect(places.map(({ before }) => before)).toEqual([1, 2, 1, 2, 1]);
    expect(await actor.log.callOne()).toEqual(["start", "4"]);
    await actor.stop();
  });

  test("errors of handlers count as calls, and keep their class and message across the replacement", async () => {
    const actor = await context.actor(classes.Forgetful, [], { maxCalls: 1 });
    const refs = [actor.fail.run("one"), actor.fail.run("two"), actor.fail.run("three")];
    for (const [i, message] of ["one", "two", "three"].entries()) {
      const error = await context.get(refs[i]!).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(TaskError);
      expect(error).toMatchObject({ message, remoteName: "RangeError", task: "Forgetful.fail" });
    }
    await actor.stop();
  });
});
