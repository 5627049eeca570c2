/** Tests actors with `maxCalls` whose processes are killed, or whose old process cannot be replaced. */
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SupervisionError } from "viceroy";
import { JobContext, WorkerLostError } from "viceroy/tasks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../proc/until.js";
import { type LeakyClasses, loadLeaky } from "./leaky.js";

let classes: LeakyClasses;
let context: JobContext;
beforeAll(async () => {
  classes = await loadLeaky();
  context = await JobContext.open({ procs: 1 });
});
afterAll(() => context.close());

const texts = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);

/** Returns the processes of the actor with a name, which this process has started. */
function processesOf(label: string): number[] {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").trim().split(" ");
  return children.map(Number).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(label);
    } catch {
      return false;
    }
  });
}

function reasonOf(settled: PromiseSettledResult<unknown>): unknown {
  return settled.status === "rejected" ? settled.reason : undefined;
}

test("a handler that waits for a later message gets it, and the actor is replaced later", async () => {
  const actor = await context.actor(classes.Remembering, [], { maxCalls: 2 });
  const waiting = actor.untilAdded.run("c");
  const places = await context.get([actor.add.run("a"), actor.add.run("b"), actor.add.run("c"), waiting]);
  expect(places.map(({ incarnation }) => incarnation)).toEqual([0, 0, 0, 0]);
  expect((await actor.add.callOne("d")).incarnation).toBe(1);
  await actor.stop();
});

test("the old process is killed while it passes messages on: those calls are lost, and the actor goes on", async () => {
  const actor = await context.actor(classes.Remembering, [], { name: "old", maxCalls: 1 });
  const file = join(mkdtempSync(join(tmpdir(), "leaky-")), "pid");
  const { pid } = await actor.add.callOne("before");
  const settled = Promise.allSettled([actor.write.callOne(file, 60_000), actor.add.callOne("never handled")]);
  await until(() => existsSync(file) && readFileSync(file, "utf8") !== "");
  const next = Number(readFileSync(file, "utf8"));
  expect(next).not.toBe(pid);
  process.kill(pid, "SIGKILL");
  for (const outcome of await settled) {
    expect(reasonOf(outcome)).toBeInstanceOf(SupervisionError);
    // On a busy machine, the end of the link is known before the exit status.
    expect(`${reasonOf(outcome)}`).toMatch(
      /cannot call old\.(write|add) on rank 0: (process \d+ was killed by SIGKILL|its process has closed its link)/,
    );
  }
  // The second process has handled one call. The next call is handled by the third one.
  const after = await actor.add.callOne("after");
  expect([pid, next]).not.toContain(after.pid);
  expect(await actor.log.callOne()).toEqual(["first", "before", "after"]);
  await actor.stop();
});

test("the new process is killed before it has taken over: another one takes over, and no call is lost", async () => {
  const actor = await context.actor(classes.Remembering, [], { name: "new", maxCalls: 2 });
  const { pid } = await actor.add.callOne("0");
  const calls = texts(4).map((text) => actor.add.callOne(`more ${text}`));
  let killed: number | undefined;
  while (killed === undefined) {
    killed = processesOf("new").find((each) => each !== pid);
    await new Promise((resolve) => setImmediate(resolve));
  }
  process.kill(killed, "SIGKILL");
  const places = await Promise.all(calls);
  expect(places.map(({ before }) => before)).toEqual([2, 3, 4, 5]);
  expect(places.map((place) => place.pid)).not.toContain(killed);
  expect(await actor.log.callOne()).toEqual(["first", "0", ...texts(4).map((text) => `more ${text}`)]);
  await actor.stop();
});

test("an actor that cannot be created again has failed, with the reason", async () => {
  const actor = await context.actor(classes.Forgetful, ["never twice"], { name: "once", maxCalls: 1 });
  const [first, second] = await Promise.allSettled([context.get(actor.add.run("a")), context.get(actor.add.run("b"))]);
  expect(first.status).toBe("fulfilled");
  expect(reasonOf(second)).toBeInstanceOf(WorkerLostError);
  expect(`${reasonOf(second)}`).toContain("not again");
  await until(async () => (await context.getActor(classes.Forgetful, "once")) === undefined);
});

test("an actor whose state cannot be saved has failed, with the reason", async () => {
  const actor = await context.actor(classes.Remembering, [], { maxCalls: 1 });
  await context.get(actor.spoil.run("save"));
  const error = await context.get(actor.add.run("b")).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WorkerLostError);
  expect(`${error}`).toContain("save threw: no state today");
});

test("replacements use up no restarts, and a process that is killed is restarted under the same name", async () => {
  const actor = await context.actor(classes.Forgetful, [], { name: "restarted", maxCalls: 1, restarts: 1 });
  const places = await context.get(texts(5).map((text) => actor.add.run(text)));
  expect(new Set(places.map(({ pid }) => pid)).size).toBe(5);
  const last = () => processesOf("restarted");
  await until(() => last().length === 1 && !places.some(({ pid }) => last().includes(pid)));
  const [pid] = last() as [number];
  process.kill(pid, "SIGKILL");
  await until(() => last().length === 1 && last()[0] !== pid);
  const same = (await context.getActor(classes.Forgetful, "restarted"))!;
  // A call that begins before this program has heard of the new process is lost with the old one.
  const before = (one: typeof actor, text: string) =>
    one.add
      .with({ wait: true })
      .callOne(text)
      .then(
        (place) => place.before,
        () => 0,
      );
  await until(async () => (await before(same, "after")) === 1);
  await until(async () => (await before(actor, "end")) === 1);
  await actor.stop();
});

test("calls that wait for a replacement are handled when the actor is stopped", async () => {
  const actor = await context.actor(classes.Remembering, [], { maxCalls: 2 });
  const calls = texts(9).map((text) => actor.add.callOne(text));
  await calls[1];
  await actor.stop();
  const places = await Promise.all(calls);
  expect(places.map(({ before }) => before)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});
