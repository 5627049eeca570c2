/** Actors of a context, in processes of their own. */
import "../../contract/project/generated/registry.js";
import { Channel, codec, SupervisionError } from "viceroy";
import {
  ActorNameTakenError,
  JobContext,
  type ObjectRef,
  ResourceUnavailableError,
  TaskCancelledError,
  TaskError,
  WorkerLostError,
} from "viceroy/tasks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MemoryCounter } from "../../contract/project/src/memory-counter.js";
import { RealProbe } from "../../contract/project/src/probe.js";
import * as plain from "../../fixtures/tasks/plain.js";
import { countWithActor } from "./actor-tasks.js";

let context: JobContext;

beforeAll(async () => {
  context = await JobContext.open({ procs: 1, resources: { cpus: 8, gpus: 4, memory: "1GiB" } });
});

afterAll(() => context.close());

/** Returns what a promise rejects with. */
async function rejectionOf(promise: Promise<unknown>): Promise<Error & Record<string, unknown>> {
  const value = await promise.then(
    (got) => new Error(`it resolved with ${String(got)}`),
    (error: unknown) => error,
  );
  return value as Error & Record<string, unknown>;
}

/** Creates an actor that needs all resources of the host, which works when no other actor holds any. */
async function expectAllFree(): Promise<void> {
  const all = await context.actor(MemoryCounter, [1], { resources: { cpus: 8 } });
  await all.stop();
}

/** Resolves when a process has ended. */
async function untilGone(pid: number): Promise<void> {
  const exists = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (exists()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("A handle", () => {
  test("is called like a mesh of one, and by run", async () => {
    const counter = await context.actor(MemoryCounter, [3]);
    expect(counter.size).toBe(1);
    expect(await context.get(counter.increment.run(2))).toBeUndefined();
    expect(await counter.value.callOne()).toBe(5);
    expect([...(await counter.value.call()).values()]).toEqual([5]);
    await counter.increment.broadcast(1);
    expect(await context.get(counter.value.with({ timeout: 60_000 }).run())).toBe(6);
    const yielded: number[] = [];
    for await (const [, value] of counter.watch.stream(2)) yielded.push(value);
    expect(yielded).toEqual([6, 6]);
    expect("run" in counter.watch).toBe(false);
    expect(`${counter}`).toBe("MemoryCounter{}");
    expect(counter.constructor.name).toBe("CounterHandle");
  });

  test("is no promise", async () => {
    const counter = await context.actor(MemoryCounter, [3]);
    expect(Reflect.has(counter, "then")).toBe(false);
    expect(await counter).toBe(counter);
  });

  test("can be sent to other actors", async () => {
    const counter = await context.actor(MemoryCounter, [3]);
    const probe = await context.actor(RealProbe, []);
    expect(await context.get(probe.sum.run(counter))).toBe(3);
  });

  test("refuses wrong arguments of run at once", async () => {
    const counter = await context.actor(MemoryCounter, [3]);
    expect(() => (counter.increment.run as (...args: unknown[]) => unknown)(1, 2)).toThrow(
      "cannot call MemoryCounter.increment: expected 0 to 1 arguments, got 2",
    );
    expect(() => counter.increment.run(1.5)).toThrow("invalid int32");
  });
});

test("Calls by run keep their order behind one that waits for a reference", async () => {
  const probe = await context.actor(RealProbe, []);
  const text = context.run(plain.after, 300);
  await context.get([probe.note.run(text, 1), probe.note.run("b", 0), probe.note.run("c", 0)]);
  expect(await probe.log.callOne()).toEqual(["init", "+done", "-done", "+b", "-b", "+c", "-c"]);
});

test("An error of a handler rejects with its class, its message, its stack and its cause; the actor goes on", async () => {
  const probe = await context.actor(RealProbe, [], { name: "thrower" });
  const error = await rejectionOf(context.get(probe.fail.run("no such luck")));
  expect(error).toBeInstanceOf(TaskError);
  expect(error).toMatchObject({ message: "no such luck", remoteName: "TypeError", task: "thrower.fail" });
  expect(error["remoteStack"]).toContain("probe.ts");
  expect((error.cause as Error).message).toBe("the root of it");
  expect(await probe.echo.callOne("still here")).toBe("still here");
});

test("A handler that runs is told when its reference is cancelled", async () => {
  const probe = await context.actor(RealProbe, []);
  const label = "RealProbe.untilAborted";
  const [begun, beginnings] = Channel.open(codec.boolean);
  const ref = probe.untilAborted.run(begun);
  await beginnings.recv();
  context.cancel(ref);
  const error = await rejectionOf(context.get(ref));
  expect(error).toEqual(new TaskCancelledError(label, `task ${label} was cancelled: context.cancel was called`));
  expect(await probe.aborted.callOne()).toBe(true);
});

describe("The process of an actor", () => {
  test("is its own, with the environment and the GPUs of the actor", async () => {
    const one = await context.actor(RealProbe, [], { environment: { env: { VICEROY_TEST: "one" } } });
    const two = await context.actor(RealProbe, [], { resources: { gpus: 1 } });
    const pids = [await one.pid.callOne(), await two.pid.callOne()];
    expect(new Set([...pids, process.pid]).size).toBe(3);
    const { readFileSync } = await import("node:fs");
    const envOf = (pid: number) => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    expect(envOf(pids[0]!)).toEqual(expect.arrayContaining(["VICEROY_TEST=one", "CUDA_VISIBLE_DEVICES="]));
    expect(envOf(pids[1]!)).toContain("CUDA_VISIBLE_DEVICES=0");
  });

  test("ends when the actor is stopped, and its resources are free again", async () => {
    const probe = await context.actor(RealProbe, [], { resources: { cpus: 8 } });
    let isCreated = false;
    const waiting = context.actor(MemoryCounter, [1], { resources: { cpus: 8 } }).then((handle) => {
      isCreated = true;
      return handle;
    });
    const pid = await probe.pid.callOne();
    const pending = probe.sleep.run(1_000_000);
    expect(isCreated).toBe(false);
    await probe.stop({ reason: "enough", drain: 0 });
    await (await waiting).stop();
    await untilGone(pid);
    const text = 'cannot call RealProbe.pid on rank 0: mesh "RealProbe" was stopped: enough';
    expect(() => probe.pid.run()).toThrow(text);
    expect((await rejectionOf(context.get(pending))).message).toBe(
      "cannot call RealProbe.sleep on rank 0: the actor RealProbe[0] was stopped: enough",
    );
  });

  test("that is killed rejects the calls under way, with the reason, and frees the name and the resources", async () => {
    for (let round = 0; round < 5; round++) {
      const probe = await context.actor(RealProbe, [], { name: "victim", resources: { cpus: 1 } });
      const pid = await probe.pid.callOne();
      const pending: ObjectRef<unknown>[] = [probe.sleep.run(1_000_000), probe.echo.run("behind it")];
      process.kill(pid, "SIGKILL");
      const errors = await Promise.all(pending.map((ref) => rejectionOf(context.get(ref))));
      for (const [i, endpoint] of ["sleep", "echo"].entries()) {
        expect(errors[i]).toBeInstanceOf(WorkerLostError);
        expect(errors[i]!.message).toBe(
          `cannot call victim.${endpoint} on rank 0: process ${pid} was killed by SIGKILL`,
        );
        expect(errors[i]!["task"]).toBe(`victim.${endpoint}`);
        expect(errors[i]!.cause).toBeInstanceOf(SupervisionError);
      }
      expect(await context.getActor(RealProbe, "victim")).toBeUndefined();
    }
    await expectAllFree();
  });

  test("ends with an actor that has failed", async () => {
    const probe = await context.actor(RealProbe, [], { name: "fails" });
    const pid = await probe.pid.callOne();
    await probe.fail.broadcast("nobody waits");
    await untilGone(pid);
    expect(await context.getActor(RealProbe, "fails")).toBeUndefined();
  });

  test("is started again as often as the actor may restart, with fresh state under the same handle", async () => {
    const probe = await context.actor(RealProbe, [], { name: "again", restarts: 1 });
    await probe.note.callOne("lost", 0);
    const pid = await probe.pid.callOne();
    const pending = probe.sleep.run(1_000_000);
    process.kill(pid, "SIGKILL");
    expect((await rejectionOf(context.get(pending))).message).toContain(`process ${pid} was killed by SIGKILL`);
    const second = await probe.pid.with({ wait: true }).callOne();
    expect(second).not.toBe(pid);
    expect(await probe.log.callOne()).toEqual(["init"]);
    const same = await context.actor(RealProbe, [], { name: "again", getIfExists: true });
    expect(await same.pid.callOne()).toBe(second);
    const last = probe.sleep.run(1_000_000);
    process.kill(second, "SIGKILL");
    await rejectionOf(context.get(last));
    expect(await context.getActor(RealProbe, "again")).toBeUndefined();
  });
});

describe("A name", () => {
  test("leads to the same actor from all who ask for it at the same time", async () => {
    const options = { name: "shared", getIfExists: true };
    const handles = await Promise.all(Array.from({ length: 8 }, () => context.actor(RealProbe, [], options)));
    const pids = await Promise.all(handles.map((handle) => handle.pid.callOne()));
    expect(new Set(pids).size).toBe(1);
    expect(await (await context.getActor(RealProbe, "shared"))!.pid.callOne()).toBe(pids[0]);
  });

  test("is free after a creation that has failed, and all who waited get the error of the constructor", async () => {
    const options = { name: "broken", getIfExists: true };
    const outcomes = await Promise.all(
      Array.from({ length: 3 }, () => rejectionOf(context.actor(RealProbe, ["throw"], options))),
    );
    for (const error of outcomes) {
      expect(error).toBeInstanceOf(TaskError);
      expect(error).toMatchObject({ message: "no such mode", remoteName: "RangeError", task: "broken.constructor" });
      expect(error["remoteStack"]).toContain("new RealProbe");
    }
    const probe = await context.actor(RealProbe, [], options);
    expect(await probe.echo.callOne("here")).toBe("here");
  });

  test("in use is refused, and so is an actor of another class", async () => {
    await context.actor(MemoryCounter, [1], { name: "taken" });
    const taken = await rejectionOf(context.actor(MemoryCounter, [1], { name: "taken" }));
    expect(taken).toBeInstanceOf(ActorNameTakenError);
    expect(taken.message).toMatch(
      /^cannot create actor "taken": an actor of viceroy\/src\/memory-counter#MemoryCounter has the name since 20.*Z; take another name, set getIfExists to get that actor, or end it by context.stopActor\("taken"\)$/,
    );
    const other =
      "expected an actor of viceroy/src/probe#RealProbe, and the actor with this name is of viceroy/src/memory";
    const error = await rejectionOf(context.actor(RealProbe, [], { name: "taken", getIfExists: true }));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(other);
    expect((await rejectionOf(context.getActor(RealProbe, "taken"))).message).toContain(other);
  });

  test("stops its actor", async () => {
    const probe = await context.actor(RealProbe, [], { name: "brief" });
    const pid = await probe.pid.callOne();
    expect(await context.stopActor("brief")).toBe(true);
    await untilGone(pid);
    expect(await context.stopActor("brief")).toBe(false);
    await context.actor(RealProbe, [], { name: "brief" });
  });
});

test("Options that are malformed are refused before anything is created", async () => {
  const refused = async (options: object) => (await rejectionOf(context.actor(MemoryCounter, [1], options))).message;
  const failed = "cannot create actor MemoryCounter: ";
  expect(await refused({ name: "" })).toBe(`${failed}expected a name of 1 to 255 bytes, got 0 bytes`);
  expect(await refused({ name: 3 })).toBe(`${failed}expected a text as name, got 3`);
  expect(await refused({ getIfExists: true })).toBe(`${failed}getIfExists requires a name`);
  expect(await refused({ restarts: -1 })).toBe(`${failed}expected restarts as an integer from 0, or Infinity, got -1`);
  expect(await refused({ maxConcurrency: 0.5 })).toBe(
    `${failed}expected maxConcurrency as an integer from 1, or Infinity, got 0.5`,
  );
  for (const maxCalls of [0, -1, 1.5, Number.NaN]) {
    expect(await refused({ maxCalls })).toBe(
      `${failed}expected maxCalls as an integer from 1, or Infinity, got ${maxCalls}`,
    );
  }
  expect(await refused({ maxCalls: "many" })).toBe(`${failed}expected maxCalls as a number, got "many"`);
  expect(await refused({ lifespan: "long" })).toBe(
    "cannot create an actor: expected one of the options name, getIfExists, lifetime, restarts, maxConcurrency, maxCalls, " +
      'resources, environment, placement, got "lifespan"',
  );
  const tooFew = await rejectionOf(context.actor(MemoryCounter, [] as unknown as [number], {}));
  expect(tooFew.message).toBe("cannot call the constructor of MemoryCounter: expected 1 argument, got 0");
});

test("An actor that dies while it is created rejects with the end of its process, and leaves nothing", async () => {
  const error = await rejectionOf(
    context.actor(RealProbe, [], {
      name: "stillborn",
      environment: { env: { NODE_OPTIONS: "--no-such-option" } },
      resources: { cpus: 1 },
    }),
  );
  expect(error).toBeInstanceOf(WorkerLostError);
  expect(error.message).toMatch(/^cannot create actor stillborn: .*process \d+ exited with code 9/);
  await expectAllFree();
  expect(await context.getActor(RealProbe, "stillborn")).toBeUndefined();
});

test.each(["thread", "inline"] as const)("Actors also live in isolation %s", async (isolation) => {
  await using other = await JobContext.open({ isolation });
  const counter = await other.actor(MemoryCounter, [3], { name: "near" });
  expect(await other.get(counter.increment.run(2))).toBeUndefined();
  expect(await (await other.getActor(MemoryCounter, "near"))!.value.callOne()).toBe(5);
  await expect(other.actor(RealProbe, ["throw"])).rejects.toThrow("no such mode");
  await counter.stop();
  expect(await other.getActor(MemoryCounter, "near")).toBeUndefined();
});

test("An actor that needs more than any host has is refused, with what there is", async () => {
  const error = await rejectionOf(context.actor(MemoryCounter, [1], { name: "big", resources: { gpus: 5 } }));
  expect(error).toBeInstanceOf(ResourceUnavailableError);
  expect(error.message).toBe(
    "cannot create actor big: no host of the context has 5 gpus; each has 8 cpus, 4 gpus, 1 GiB of memory",
  );
  expect((await rejectionOf(context.actor(MemoryCounter, [1], { resources: { cpus: -1 } }))).message).toBe(
    "cannot create an actor: expected an amount of cpus from 0 to 900719925474, got -1",
  );
});

test("An actor that uses more memory than it has asked for is ended, and its callers are told so", async () => {
  const probe = await context.actor(RealProbe, [], { name: "hungry", resources: { memory: "192MiB" } });
  const text = "x".repeat(2 ** 24);
  const fill = async () => {
    for (let i = 0; i < 20; i++) await context.get(probe.note.run(text, 0));
  };
  const error = await rejectionOf(fill());
  expect(error).toBeInstanceOf(WorkerLostError);
  expect(error.message).toMatch(
    /^cannot call hungry.note on rank 0: process \d+ was killed by SIGKILL: it (needed more memory than|used [\d.]+ [MG]iB of memory, more than) its limit of 192 MiB$/,
  );
  expect(await context.getActor(RealProbe, "hungry")).toBeUndefined();
});

test("A task creates and finds actors, and passes their answers on", async () => {
  const total = await context.get(context.run(countWithActor, "of a task", 2));
  expect(total).toBe(5);
  const counter = (await context.getActor(MemoryCounter, "of a task"))!;
  expect(await context.get(context.run(plain.add, counter.value.run(), 1))).toBe(6);
  // The task reads the answer of the actor by the codec of its endpoint.
  expect(await context.get(context.run(plain.refIn, { ref: counter.value.run() }))).toBe(6);
});

test("Actors end with their context", async () => {
  const other = await JobContext.open();
  const probe = await other.actor(RealProbe, []);
  const pid = await probe.pid.callOne();
  await other[Symbol.asyncDispose]();
  await untilGone(pid);
});
