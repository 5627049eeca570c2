/** These tests check a turn without a process: the context of its handler, its timeout, its signal and its calls. */
import { beforeEach, describe, expect, test } from "vitest";
import { callerAsHolder, cancelReasons, type Turn } from "../../../runtime/actor/cell/turn.js";
import { context } from "../../../runtime/actor/context.js";
import { TimeoutError } from "../../../runtime/actor/errors.js";
import type { OutstandingCall } from "../../../runtime/actor/reference/outstanding-call.js";
import { emptyChain } from "../../../runtime/link/frame/message-extension.js";
import { TraceContext } from "../../../runtime/link/trace-context.js";
import type { EndpointDescriptor } from "../../../runtime/wire/descriptor.js";
import { type Message, Parts } from "../parts.js";

let parts: Parts;
beforeEach(() => {
  parts = new Parts();
});

const turn = (message: Message = {}): Turn => parts.turn(() => {}, message);
/** Creates a turn whose caller waits for `timeout` milliseconds. */
const within = (timeout: number, message: Message = {}): Turn => turn({ ...message, extension: { timeout } });

/** A call of a handler, which records how it was abandoned. */
class Called implements OutstandingCall {
  readonly label: string;
  readonly waitText = "; it waited long";
  turn: Turn | undefined;
  readonly abandoned: (readonly [error: Error, reason: number, quietly: boolean])[] = [];
  constructor(label = "others.value") {
    this.label = label;
  }
  abandon(error: unknown, reason: number, quietly: boolean): void {
    this.abandoned.push([error as Error, reason, quietly]);
  }
}

describe("the rank and extent of a turn", () => {
  test.each<[string, Message]>([
    ["names no rank", {}],
    ["was sent to the mesh as it was spawned", { extension: { rank: 7, extent: 0 } }],
  ])("are those of the actor if the message %s", (_, message) => {
    const { extent, rank } = turn(message);
    expect([extent, rank.toString()]).toEqual([{ gpus: 2 }, "{'gpus': 1/2}"]);
  });

  test("are those in the slice that the link of the caller has declared", () => {
    const { extent, rank } = turn({ extension: { rank: 3, extent: 1 } });
    expect([extent, rank.toString()]).toEqual([{ hosts: 4 }, "{'hosts': 3/4}"]);
  });

  test("have an empty extent if the link has not declared the slice", () => {
    expect(turn({ extension: { rank: 0, extent: 9 } }).extent).toEqual({});
  });
});

test.each(["rank", "extent", "signal"] as const)("%s cannot be read after the message has been handled", (what) => {
  const over = turn();
  over.end();
  expect(() => over[what]).toThrow(new Error(`cannot read context().${what}: the message has been handled already`));
});

test("a turn names its caller, its actor and its process", () => {
  const { caller, actor, proc } = turn();
  expect(caller).toEqual({ id: parts.lane.sender, name: "root" });
  expect([actor.name, proc.id]).toEqual(["counters", "0000000000000009"]);
  expect(callerAsHolder(turn())).toMatchObject({ proc: 8n });
});

test("the label of a turn names actor and endpoint, also for the variant that retains results", () => {
  expect(turn({ name: "value" }).label).toBe("counters[1].value");
  expect(turn({ name: "value!", retains: { name: "value" } as EndpointDescriptor }).label).toBe("counters[1].value");
});

test("a turn has the token of its actor, and is awaited by the actors that wait for its actor", () => {
  expect([turn().token, turn().isAwaitedBy([4, 0]), turn().isAwaitedBy([5, 0])]).toEqual([[77, 1], true, false]);
});

describe("the trace of a turn", () => {
  const sent = new TraceContext(1, 2, 3, 4, 5, 6, 1);

  test("is new if the message has none, and stays the same for the whole turn", () => {
    const one = turn();
    const { trace } = one;
    expect(trace).not.toHaveProperty("parentId");
    expect(trace.traceparent).toBe(`00-${trace.id}-${trace.spanId}-00`);
    expect(one.trace).toEqual(trace);
    expect(turn().trace.id).not.toBe(trace.id);
  });

  test("continues the trace of the message, with a span of its own below the span of the sender", () => {
    const { trace } = turn({ extension: { trace: sent } });
    expect([trace.id, trace.parentId]).toEqual([sent.id, sent.span]);
    expect(trace.spanId).not.toBe(sent.span);
    expect(trace.traceparent).toBe(`00-${sent.id}-${trace.spanId}-01`);
  });
});

describe("the call chain of a turn", () => {
  const extension = { chain: [1, 2] };

  test("has the actors in the chain of its message, followed by its own actor", () => {
    expect(turn().chain).toEqual([77, 1]);
    expect(turn({ extension }).chain).toEqual([1, 2, 77, 1]);
  });

  test("leaves out its own actor if the endpoint is concurrent", () => {
    expect(turn({ extension, concurrent: true }).chain).toEqual([1, 2]);
    expect(turn({ extension, concurrent: 3 }).chain).toEqual([1, 2]);
    expect(turn({ concurrent: true }).chain).toEqual([]);
  });

  test("is empty after the handler has ended, because no actor waits for its later calls", () => {
    const over = turn({ extension });
    expect(over.chain).toHaveLength(4);
    over.end();
    expect(over.chain).toBe(emptyChain);
  });
});

describe("the time that a caller still waits", () => {
  test("is rounded up to whole milliseconds, and is at least 1 until the turn ends or is cancelled", () => {
    const one = within(100);
    expect(one.timeLeft).toBe(100);
    parts.clock.sleep(10.5);
    expect(one.timeLeft).toBe(90);
    parts.clock.sleep(200);
    expect(one.timeLeft).toBe(1);
  });

  test("is 0 without a timeout, after the message is handled, and after the caller has left", () => {
    const [none, zero, over, given] = [turn(), within(0), within(100), within(100)];
    over.end();
    given.cancel(0);
    expect([none, zero, over, given].map(({ timeLeft }) => timeLeft)).toEqual([0, 0, 0, 0]);
  });

  test("expires when the timeout has passed, not before, and never without a timeout", () => {
    const [limited, unlimited] = [within(100), turn()];
    parts.clock.sleep(99);
    expect([limited.isExpired, unlimited.isExpired]).toEqual([false, false]);
    parts.clock.sleep(1);
    expect([limited.isExpired, unlimited.isExpired]).toEqual([true, false]);
  });
});

describe("the signal of a turn", () => {
  test("is the same object at each access, and is not aborted at first", () => {
    const one = turn();
    const { signal } = one;
    expect([one.signal === signal, signal.aborted]).toEqual([true, false]);
  });

  test("is already aborted at the first access if the caller has left before", () => {
    const gone = turn();
    gone.cancel(0);
    const { aborted, reason } = gone.signal;
    expect([aborted, reason]).toEqual([
      true,
      expect.objectContaining({ reason: "closed", message: "the caller no longer waits" }),
    ]);
  });

  test("is aborted with AbortError when the caller leaves", () => {
    const one = turn({ name: "sleep" });
    const { signal } = one;
    one.cancel(0);
    expect([signal.reason.name, signal.reason.message]).toEqual(["AbortError", "the caller of sleep waits no longer"]);
  });

  test("is aborted with TimeoutError 20 ms after the timeout, which also cancels the turn", () => {
    const one = within(100, { name: "sleep" });
    const { signal } = one;
    parts.clock.pass(119);
    expect(signal.aborted).toBe(false);
    parts.clock.pass(1);
    expect(signal.reason).toEqual(new TimeoutError("the caller of sleep waits no longer: its time is over"));
    expect(one.isCancelled).toBe(true);
  });

  test("is aborted 20 ms after its first access if the timeout has already passed", () => {
    const one = within(100);
    parts.clock.sleep(500);
    const { signal } = one;
    expect(signal.aborted).toBe(false);
    parts.clock.pass(20);
    expect(signal.aborted).toBe(true);
  });

  test("calls its abort listeners in the context of the handler", () => {
    const one = turn();
    let seen: unknown;
    one.signal.addEventListener("abort", () => {
      seen = context();
    });
    one.cancel(0);
    expect(seen).toBe(one);
  });

  test("needs no timer without a timeout, and otherwise shares one with the calls of its turn", () => {
    expect([turn().signal.aborted, parts.clock.waiting]).toEqual([false, 0]);
    const limited = within(100);
    expect(parts.clock.waiting).toBe(0);
    expect([limited.signal.aborted, parts.clock.waiting]).toEqual([false, 1]);
    limited.addOutstanding(new Called());
    expect(parts.clock.waiting).toBe(1);
    const other = within(100);
    other.addOutstanding(new Called());
    other.addOutstanding(new Called());
    expect([other.signal.aborted, parts.clock.waiting]).toEqual([false, 2]);
  });

  test.each<[string, (one: Turn) => void]>([
    ["has been handled", (one) => one.end()],
    ["has been given up", (one) => one.cancel(0)],
  ])("has no timer left when the message %s", (_, end) => {
    const one = within(100);
    expect(one.signal.aborted).toBe(false);
    end(one);
    expect(parts.clock.waiting).toBe(0);
  });

  test("is not aborted by a late timer after the message has been handled", () => {
    const one = within(100);
    const { signal } = one;
    let late = () => {};
    const after = parts.clock.after.bind(parts.clock);
    parts.clock.after = (ms, task) => {
      late = task;
      return after(ms, task);
    };
    const two = within(100);
    const other = two.signal;
    two.end();
    late();
    expect([signal.aborted, other.aborted, two.isCancelled]).toEqual([false, false, false]);
  });
});

describe("the calls of a handler", () => {
  test("are outstanding until each of them has ended", () => {
    const one = turn();
    const [a, b, c] = [new Called("a"), new Called("b"), new Called("c")];
    expect(one.outstandingCalls).toEqual([]);
    for (const call of [a, b, c]) one.addOutstanding(call);
    expect(one.outstandingCalls).toEqual([a, b, c]);
    expect([a, b, c].every((call) => call.turn === one)).toBe(true);
    one.removeOutstanding(b);
    expect(one.outstandingCalls).toEqual([a, c]);
    one.removeOutstanding(a);
    expect(one.outstandingCalls).toEqual([c]);
    const d = new Called("d");
    one.addOutstanding(d);
    expect(one.outstandingCalls).toEqual([d, c]);
    one.removeOutstanding(c);
    one.removeOutstanding(d);
    expect(one.outstandingCalls).toEqual([]);
    one.removeOutstanding(d);
  });

  test.each([
    ["cancelled", "AbortError", "the caller of increment waits no longer", 0],
    ["timeout", "TimeoutError", "the caller of increment waits no longer: its time is over; it waited long", 1],
    ["left", "AbortError", "the caller of increment waits no longer", 0],
  ] as const)("are abandoned quietly when the caller stops waiting: %s", (reason, name, why, told) => {
    const one = turn();
    const calls = [new Called("a.value"), new Called("b.value")];
    for (const call of calls) one.addOutstanding(call);
    one.cancel(cancelReasons.indexOf(reason));
    for (const { label, abandoned } of calls) {
      expect(abandoned).toHaveLength(1);
      const [error, because, quietly] = abandoned[0]!;
      expect([error.name, error.message]).toEqual([name, `cannot call ${label}: ${why}`]);
      expect([because, quietly]).toEqual([told, true]);
    }
  });

  test("are abandoned 20 ms after the timeout of the caller, even without a cancel frame", () => {
    const [one, call] = [within(100), new Called()];
    one.addOutstanding(call);
    parts.clock.pass(119);
    expect(call.abandoned).toEqual([]);
    parts.clock.pass(1);
    expect(call.abandoned.map(([, reason]) => reason)).toEqual([1]);
  });

  test("are abandoned when a new call starts after the timeout, but the new call is not", () => {
    const [one, before, after] = [within(100), new Called(), new Called()];
    one.addOutstanding(before);
    parts.clock.sleep(100);
    one.addOutstanding(after);
    expect([before.abandoned.map(([{ name }]) => name), after.abandoned, one.isCancelled]).toEqual([
      ["TimeoutError"],
      [],
      true,
    ]);
    expect([after.turn, before.turn === one]).toEqual([undefined, true]);
    one.addOutstanding(new Called());
    expect(before.abandoned.length).toBe(1);
  });

  test.each<[string, (one: Turn) => void]>([
    ["handled", (one) => one.end()],
    ["given up", (one) => one.cancel(0)],
  ])("are not registered if they start after the message has been %s", (_, end) => {
    const [one, call] = [within(100), new Called()];
    end(one);
    one.addOutstanding(call);
    expect([call.turn, one.outstandingCalls, parts.clock.waiting]).toEqual([undefined, [], 0]);
  });

  test("continue after the message has been handled, even if the turn is cancelled later", () => {
    const one = turn();
    const calls = [new Called(), new Called()];
    for (const call of calls) one.addOutstanding(call);
    one.end();
    expect(one.outstandingCalls).toEqual([]);
    one.cancel(0);
    expect(calls.flatMap(({ abandoned }) => abandoned)).toEqual([]);
  });
});

test("a turn stops its stream when its caller leaves", () => {
  const one = turn();
  let left = 0;
  one.stream = { leave: () => left++ } as never;
  one.cancel(2);
  expect(left).toBe(1);
});

test("runAsHandler runs code in the context of its turn", () => {
  const one = turn();
  let seen: unknown;
  one.runAsHandler(() => {
    seen = context();
  });
  expect(seen).toBe(one);
});
