/** Errors of calls as the caller sees them: both names of the actor, and the lines that wait for the answer. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ActorError, SupervisionError, TimeoutError } from "../../../runtime/actor/errors.js";
import { viewOf } from "../../../runtime/actor/mesh/actor-mesh.js";
import { range } from "../../../runtime/shape/index.js";
import { Counter, type CounterMesh, until } from "../counter.js";
import { type TestProc, World } from "../world.js";

let world: World;
let procs: TestProc[];
let counters: CounterMesh<"gpus">;

beforeEach(() => {
  world = new World();
  procs = [0, 1, 2, 3].map((rank) => world.proc(`p${rank}`));
  counters = world.spawn("counters", Counter, [0], procs);
});
afterEach(() => world.close());

const failure = (call: PromiseLike<unknown>): Promise<Error> =>
  Promise.resolve(call).then(
    () => {
      throw new Error("expected an error");
    },
    (error) => error,
  );

describe("the actor in the message of an error", () => {
  const dead = async (): Promise<void> => {
    counters.slice({ gpus: 2 }).fail.broadcast("fatal");
    await until("it has failed", () => procs[2]!.failures().length > 0);
  };

  test("is named by its rank in the slice and by its name in the mesh if the ranks differ", async () => {
    await dead();
    const why = "the actor counters[2] has failed: TypeError: fatal";
    const one = await failure(counters.slice({ gpus: 2 }).value.callOne());
    expect(one).toMatchObject({ ranks: [0], actors: ["counters[2]"] });
    expect(one.message).toBe(`cannot call counters.value on rank 0 (counters[2]): ${why}`);
    const some = await failure(counters.slice({ gpus: range(1, 4) }).value.call());
    expect(some.message).toBe(`cannot call counters.value on rank 1 (counters[2]): ${why}`);
    const next = await failure(
      counters
        .slice({ gpus: range(1, 4) })
        .watch.stream(1)
        .next()
        .then(async () => {
          for await (const _ of counters.slice({ gpus: 2 }).watch.stream(1));
        }),
    );
    expect(next.message).toMatch(/^cannot call counters\.watch on rank [01] \(counters\[2\]\): /);
  });

  test("is named only by its rank if it has the same rank in the mesh", async () => {
    await dead();
    const error = await failure(counters.value.call());
    expect(error).toMatchObject({ ranks: [2], actors: ["counters[2]"] });
    expect(error.message).toBe(
      "cannot call counters.value on rank 2: the actor counters[2] has failed: TypeError: fatal",
    );
  });
});

describe("the stack of an error", () => {
  test("that a handler threw has the frames of the handler and no frames of the runtime", async () => {
    const error = (await failure(counters.slice({ gpus: 1 }).fail.callOne("nope"))) as ActorError;
    expect(error.remoteStack).toMatch(/^TypeError: nope\n/);
    expect(error.remoteStack).toMatch(/counter\.ts:\d+:\d+\)$/);
    expect(error.remoteStack).not.toContain("runtime/actor");
  });

  async function whoAwaits(call: () => PromiseLike<unknown>): Promise<unknown> {
    const value = await call();
    return value;
  }
  async function whoAwaitsAll(call: () => PromiseLike<unknown>): Promise<unknown> {
    const [value] = await Promise.all([call()]);
    return value;
  }
  async function whoGoesOn(call: () => PromiseLike<unknown>): Promise<unknown> {
    return whoAwaits(() => call().then((value) => value));
  }
  async function whoIterates(): Promise<void> {
    for await (const _ of counters.failingStream.stream(2));
  }

  test.each([
    [whoAwaits, "whoAwaits"],
    [whoAwaitsAll, "whoAwaitsAll"],
    [whoGoesOn, "whoAwaits"],
  ])("contains the lines that await the call: %o", async (caller, name) => {
    const line = new RegExp(
      `\\n {4}called\\n(?: {4}at .*\\n)* {4}at (async )?${name} \\(\\S*caller-stack\\.test\\.ts:`,
    );
    for (const call of [
      () => counters.fail.call("refused"),
      () => counters.slice({ gpus: 1 }).fail.callOne("refused"),
      () => counters.fail.choose("refused"),
      () => counters.slice({ gpus: 0 }).failOnEven.with({ retry: 2 }).callOne(),
    ]) {
      const error = await failure(caller(call));
      expect(error).toBeInstanceOf(ActorError);
      expect(error.stack).toMatch(line);
      // The place where the error was thrown comes first.
      expect(error.stack).toMatch(/^ActorError: [^\n]+\n {4}in counters\.\w+ of counters\[\d\]\n\w*Error: /);
    }
  });

  test("of a timeout or a lost process has the awaiting lines and no frames of the runtime", async () => {
    const slow = counters.slice({ gpus: 3 });
    const late = await failure(whoAwaits(() => slow.sleep.with({ timeout: 20 }).callOne(60_000)));
    expect(late).toBeInstanceOf(TimeoutError);
    const stack =
      /^TimeoutError: cannot call counters\.sleep: no answer within 20 ms\n {4}at (?:async )?whoAwaits \(\S*caller-stack\.test\.ts:/;
    expect(late.stack).toMatch(stack);
    const lost = failure(whoAwaits(() => counters.sleep.call(60_000)));
    world.root.proc.peerDown(procs[1]!.proc.id, "it was killed");
    const error = await lost;
    expect(error).toBeInstanceOf(SupervisionError);
    expect(error.stack).toMatch(
      /^SupervisionError: [^\n]+: it was killed\n {4}at (?:async )?whoAwaits \(\S*caller-stack\.test\.ts:/,
    );
    expect(error.stack).not.toContain("call-future");
  });

  test("contains the line of the loop that reads a stream", async () => {
    expect((await failure(whoIterates())).stack).toMatch(/\n {4}called\n {4}at (?:async )?whoIterates \(/);
  });

  test("is present if no code awaits the call, and the error arrives even if stack traces fail", async () => {
    const error = await failure(counters.slice({ gpus: 1 }).fail.callOne("refused"));
    expect(error.stack).toContain("TypeError: refused");
    const before = Error.prepareStackTrace;
    Error.prepareStackTrace = () => {
      throw new Error("no stacks here");
    };
    try {
      expect(await failure(whoAwaits(() => counters.fail.call("refused")))).toMatchObject({ message: "refused" });
    } finally {
      // biome-ignore lint/suspicious/noExplicitAny: the former value may be undefined
      Error.prepareStackTrace = before as any;
    }
  });
});

describe("a mesh that was stopped", () => {
  const texts = (reason: string | undefined) => {
    const mesh = world.spawn("mesh", Counter, [0], procs);
    const control = { ready: Promise.resolve(), stop: async () => {}, checkpoint: async () => {}, isWhole: () => true };
    return { mesh, control, options: reason === undefined ? {} : { reason } };
  };

  test.each([
    [undefined, 'cannot call mesh.value on ranks 0, 1, 2, 3: mesh "mesh" was stopped'],
    ["enough", 'cannot call mesh.value on ranks 0, 1, 2, 3: mesh "mesh" was stopped: enough'],
  ])("refuses calls with an error that shows the stop reason only if there is one: %s", async (reason, text) => {
    const { mesh, control, options } = texts(reason);
    viewOf(mesh).record.control = control;
    await mesh.stop(options);
    expect(() => mesh.value.call()).toThrow(expect.objectContaining({ message: text }));
  });
});
