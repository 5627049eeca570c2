/** The order of calls by `run`, with an actor that the test answers for. */
import { describe, expect, test } from "vitest";
import { codec, type EndpointDescriptor, SupervisionError } from "../../../runtime/index.js";
import { ActorCalls, type CalledEndpoint } from "../../../runtime/tasks/actors/actor-calls.js";
import type { Answer, RefMaker } from "../../../runtime/tasks/actors/ref-maker.js";
import { TaskCancelledError, TaskError, WorkerLostError } from "../../../runtime/tasks/errors.js";

interface Settlers {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Stands for a reference: a promise, and the answer that settles it. */
class TestRef {
  readonly label: string;
  readonly value: Promise<unknown>;
  readonly answer: Answer | undefined;
  constructor(label: string, value: Promise<unknown>, answer?: Answer) {
    this.label = label;
    this.value = value;
    this.answer = answer;
    value.catch(() => {});
  }
}

const refs = {
  isRef: (value: unknown) => value instanceof TestRef,
  hasRefs: (_label: string, args: readonly unknown[]) => args.some((arg) => arg instanceof TestRef),
  send: (body: () => Answer) => body(),
  read: (ref: TestRef) => ref.value,
  settledBy: (label: string, _codec: unknown, answer: Answer, toError: (error: unknown) => Error) => {
    const value = answer.then(undefined, (error: unknown) => {
      throw toError(error);
    });
    return new TestRef(label, value, answer);
  },
} as unknown as RefMaker;

function openRef(label = "earlier"): Settlers & { readonly ref: TestRef } {
  let settlers!: Settlers;
  const value = new Promise<unknown>((resolve, reject) => {
    settlers = { resolve, reject };
  });
  return { ...settlers, ref: new TestRef(label, value) };
}

/** An actor whose messages the test sees, and answers. */
function fakeActor(most = Number.POSITIVE_INFINITY) {
  const sent: unknown[] = [];
  const open: (Settlers & { cancelled: boolean })[] = [];
  const args = codec.parameters<readonly unknown[]>("note", { text: codec.string, sizes: codec.array(codec.int32) });
  const to: CalledEndpoint = {
    label: "log.note",
    descriptor: { minArgs: 2, maxArgs: 2, args } as unknown as EndpointDescriptor,
    answers: undefined as never,
    send: (given) => {
      args.encode(given);
      sent.push(given[0]);
      const call = { cancelled: false } as Settlers & { cancelled: boolean };
      open.push(call);
      const answer = new Promise<unknown>((resolve, reject) => Object.assign(call, { resolve, reject }));
      const cancel = () => {
        call.cancelled = true;
        call.reject(new DOMException("the call was cancelled", "AbortError"));
      };
      return Object.assign(answer, { cancel });
    },
  };
  const calls = new ActorCalls(refs, most);
  const run = (text: unknown, sizes: unknown = []) => calls.run(to, [text, sizes]) as unknown as TestRef;
  return { sent, open, run, calls, to };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("Calls by run", () => {
  test("are sent at once when nothing waits", () => {
    const { sent, run } = fakeActor();
    run("a");
    run("b");
    expect(sent).toEqual(["a", "b"]);
  });

  test("keep their order when an earlier one waits for a reference", async () => {
    const { sent, run } = fakeActor();
    const first = openRef();
    const second = openRef();
    run(first.ref);
    run(second.ref);
    run("c");
    second.resolve("b");
    await turn();
    expect(sent).toEqual([]);
    first.resolve("a");
    await turn();
    expect(sent).toEqual(["a", "b", "c"]);
    run("d");
    expect(sent).toEqual(["a", "b", "c", "d"]);
  });

  test("are copies: what the caller changes afterwards is not sent", async () => {
    const { open, to, calls } = fakeActor();
    const given: unknown[] = [];
    const send = (args: readonly unknown[]) => {
      given.push(args[1]);
      return to.send(args);
    };
    const spied = { ...to, send };
    const sizes = [1];
    const ref = openRef();
    calls.run(spied, [ref.ref, sizes]);
    calls.run(spied, ["b", sizes]);
    sizes.push(2);
    ref.resolve("a");
    await turn();
    expect(given).toEqual([[1], [1]]);
    expect(open).toHaveLength(2);
  });

  test("refuse wrong arguments at once, also when they would wait", () => {
    const { run, calls, to, sent } = fakeActor();
    run(openRef().ref);
    expect(() => run(3)).toThrow("cannot encode note(text): invalid string: expected a string, got 3");
    expect(() => run(openRef().ref, ["no number"])).toThrow(
      "cannot call log.note: argument 1: cannot encode int32[][0]: invalid int32: expected an integer from -2147483648 to 2147483647",
    );
    expect(() => calls.run(to, ["a"])).toThrow("cannot call log.note: expected 2 arguments, got 1");
    expect(sent).toEqual([]);
  });

  test("whose argument has failed are not made, and name the task and the argument; later ones go on", async () => {
    const { sent, run } = fakeActor();
    const failed = openRef("read");
    const call = run("a", failed.ref);
    run("b");
    const cause = new TaskError("no such file", { task: "read", remoteName: "RangeError" });
    failed.reject(cause);
    const error = await call.value.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TaskError);
    expect(error).toMatchObject({
      message: "cannot call log.note: argument 1 is the result of read, which has failed: no such file",
      task: "log.note",
      remoteName: "RangeError",
      cause,
    });
    await turn();
    expect(sent).toEqual(["b"]);
  });

  test("that wait can be cancelled: they are not made, and later ones keep their places", async () => {
    const { sent, run } = fakeActor();
    const first = openRef();
    run(first.ref);
    const second = run("b");
    run("c");
    second.answer!.cancel();
    await expect(second.value).rejects.toThrow(new TaskCancelledError("log.note", "log.note was cancelled"));
    await turn();
    expect(sent).toEqual([]);
    first.resolve("a");
    await turn();
    expect(sent).toEqual(["a", "c"]);
  });

  test("that have been sent after a wait can be cancelled", async () => {
    const { open, run } = fakeActor();
    const first = openRef();
    const call = run(first.ref);
    first.resolve("a");
    await turn();
    call.answer!.cancel();
    expect(open[0]!.cancelled).toBe(true);
    await expect(call.value).rejects.toBeInstanceOf(TaskCancelledError);
  });

  test("are under way at most as often as maxConcurrency says, in their order", async () => {
    const { sent, open, run } = fakeActor(2);
    const values = ["a", "b", "c", "d", "e"].map((text) => run(text).value);
    await turn();
    expect(sent).toEqual(["a", "b"]);
    open[1]!.resolve("B");
    await turn();
    expect(sent).toEqual(["a", "b", "c"]);
    open[0]!.reject(new Error("failed"));
    open[2]!.resolve("C");
    await turn();
    expect(sent).toEqual(["a", "b", "c", "d", "e"]);
    open[3]!.resolve("D");
    open[4]!.resolve("E");
    expect(await Promise.allSettled(values)).toMatchObject([
      { reason: { message: "failed" } },
      { value: "B" },
      { value: "C" },
      { value: "D" },
      { value: "E" },
    ]);
    run("f");
    expect(sent.at(-1)).toBe("f");
  });

  test("that cannot reach the actor reject with WorkerLostError, whose cause is what was seen", async () => {
    const { open, run } = fakeActor();
    const call = run("a");
    const cause = new SupervisionError("log.note", [0], "process 7 was killed by SIGKILL");
    open[0]!.reject(cause);
    const error = await call.value.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkerLostError);
    expect(error).toMatchObject({
      message: "cannot call log.note on rank 0: process 7 was killed by SIGKILL",
      task: "log.note",
      cause,
    });
  });
});
