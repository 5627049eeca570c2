/** What `maxCalls` of actors promises in every isolation: no call is lost, none is handled twice, and their order is kept. */
import { Channel, type Codec } from "viceroy";
import { JobContext, TaskError } from "viceroy/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Place } from "../../fixtures/leaky/generated/leaky.js";
import { type LeakyClasses, loadLeaky } from "./leaky.js";
import { callLeaky } from "./leaky-tasks.js";

let classes: LeakyClasses;
let PlaceCodec: Codec<Place>;
beforeAll(async () => {
  classes = await loadLeaky();
  ({ PlaceCodec } = await import("../../fixtures/leaky/generated/leaky.js"));
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

  test("running calls end before the replacement, concurrent ones too, and later calls wait for it", async () => {
    const actor = await context.actor(classes.Remembering, [], { maxCalls: 2 });
    // The other calls end before this one on a busy machine, too.
    const long = actor.meanwhile.run("long", 1500);
    const calls = [actor.meanwhile.run("short", 1), actor.work.run("work", 20), actor.add.run("late")];
    const places = await context.get([long, ...calls]);
    expect(places.map(({ incarnation }) => incarnation)).toEqual([0, 0, 0, 1]);
    expect(await actor.log.callOne()).toEqual(["first", "short", "work", "long", "late"]);
    await actor.stop();
  });

  test("a stream counts when it has ended", async () => {
    const actor = await context.actor(classes.Remembering, [], { maxCalls: 1 });
    const incarnations: number[] = [];
    for await (const [, { incarnation }] of actor.places.stream(3, 5)) incarnations.push(incarnation);
    expect(incarnations).toEqual([0, 0, 0]);
    expect((await actor.add.callOne("later")).incarnation).toBe(1);
    await actor.stop();
  });

  test("messages without an answer, streams and answers by ports are passed on in their order", async () => {
    const actor = await context.actor(classes.Remembering, [], { maxCalls: 2 });
    const [port, receiver] = Channel.open(PlaceCodec);
    for (const text of texts(5)) actor.add.broadcast(text);
    actor.notify.broadcast(port);
    const answered = actor.later.callOne("by port", 1);
    const items: number[] = [];
    for await (const [, { incarnation }] of actor.places.stream(2, 1)) items.push(incarnation);
    expect((await receiver.recv()).incarnation).toBe(2);
    expect((await answered).incarnation).toBe(3);
    expect(items).toEqual([3, 3]);
    expect((await actor.log.callOne()).toSorted()).toEqual(
      ["first", ...texts(5), "sent", "by port", "place 0", "place 1"].toSorted(),
    );
    await actor.stop();
  });
});

test("four processes call all the time over more than twenty replacements: no call is lost or handled twice, and each caller's order is kept", async () => {
  await using context = await JobContext.open({ procs: 4 });
  const actor = await context.actor(classes.Remembering, [], { name: "leaky", maxCalls: 10 });
  const callers = await context.get([
    context.run(callLeaky, "leaky", "one", 60, 1),
    context.run(callLeaky, "leaky", "two", 60, 1),
    context.run(callLeaky, "leaky", "many", 60, 8),
    context.run(callLeaky, "leaky", "all", 60, 60),
  ]);
  const log = await actor.log.callOne();
  for (const caller of ["one", "two", "many", "all"]) {
    const own = log.filter((line) => line.startsWith(`${caller}:`));
    expect(own).toEqual(texts(60).map((text) => `${caller}:${text}`));
  }
  expect(log.length).toBe(241);
  const handled = Array.from({ length: 24 }, () => 0);
  for (const incarnation of callers.flat()) handled[incarnation]!++;
  expect(handled).toEqual(Array(24).fill(10));
});
