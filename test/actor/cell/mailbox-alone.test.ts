/** These tests check the mailbox without a process: the order of messages, their answers, and their credit. */
import { beforeEach, describe, expect, test } from "vitest";
import { Mailbox } from "../../../runtime/actor/cell/mailbox.js";
import type { Turn } from "../../../runtime/actor/cell/turn.js";
import { Watchdog } from "../../../runtime/actor/cell/watchdog.js";
import { DeliveryError } from "../../../runtime/actor/errors.js";
import type { Port } from "../../../runtime/actor/port/port.js";
import { Held, type Message, Parts, settled } from "../parts.js";

let parts: Parts;
let mailbox: Mailbox;
let log: (string | number)[];

const owner = {
  name: "counters[1]",
  messageFailed: (turn: Turn, error: unknown) =>
    void log.push(`failed in ${turn.handler.endpoint.name}: ${(error as Error).message}`),
};

beforeEach(() => {
  parts = new Parts();
  log = [];
  mailbox = new Mailbox(owner, parts.clock, undefined);
});

/** Adds a message whose handler notes `what` and ends at once. */
function note(what: string | number, message?: Message): void {
  mailbox.add(parts.turn(() => void log.push(what), message));
}

/** Adds a message whose handler ends when the test resolves or rejects its promise. */
function hold(message?: Message): Held {
  const held = new Held();
  mailbox.add(parts.turn(held.method, message));
  return held;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe("work between two messages", () => {
  /** Requests work that ends when the test says so. */
  function pause(name: string): () => void {
    let end: (() => void) | undefined;
    const run = () => {
      log.push(`begin ${name}`);
      return new Promise<void>((resolve) => (end = resolve));
    };
    mailbox.runBetween(run, () => log.push(`drop ${name}`));
    return () => end!();
  }

  test("runs at once if no message is being handled, and messages wait for its end", async () => {
    mailbox.open();
    const end = pause("a");
    note("b");
    note("c", { concurrent: true });
    await settled();
    expect([log, mailbox.isIdle]).toEqual([["begin a"], false]);
    end();
    await settled();
    expect([log, mailbox.isIdle]).toEqual([["begin a", "b", "c"], true]);
  });

  test("that is requested before the mailbox is open runs before all messages, and the mailbox is not idle", async () => {
    note("b");
    const end = pause("a");
    await settled();
    expect(log).toEqual([]);
    mailbox.open();
    await settled();
    expect(log).toEqual(["begin a"]);
    end();
    await settled();
    expect(log).toEqual(["begin a", "b"]);
    const closed = new Mailbox(owner, parts.clock, undefined);
    expect(closed.isIdle).toBe(true);
    closed.runBetween(
      async () => {},
      () => {},
    );
    expect(closed.isIdle).toBe(false);
  });

  test("waits for the running handler and comes before the messages in the queue, one work at a time", async () => {
    mailbox.open();
    const held = hold();
    note("b");
    const [endFirst, endSecond] = [pause("first"), pause("second")];
    await settled();
    expect(log).toEqual([]);
    held.resolve(undefined);
    await settled();
    expect(log).toEqual(["begin first"]);
    endFirst();
    await settled();
    expect(log).toEqual(["begin first", "begin second"]);
    endSecond();
    await settled();
    expect(log).toEqual(["begin first", "begin second", "b"]);
  });

  test("does not wait for concurrent handlers", async () => {
    mailbox.open();
    const held = hold({ concurrent: true });
    pause("a")();
    await settled();
    note("b");
    expect(log).toEqual(["begin a", "b"]);
    held.resolve(undefined);
  });

  test("counts as a message that is being handled while the mailbox drains", async () => {
    mailbox.open();
    const end = pause("a");
    void mailbox.whenDrained().then(() => log.push("drained"));
    await settled();
    expect(log).toEqual(["begin a"]);
    end();
    await settled();
    expect(log).toEqual(["begin a", "drained"]);
  });

  test("waits until the mailbox opens, and is dropped if the mailbox closes before", async () => {
    pause("a");
    mailbox.open();
    pause("b");
    mailbox.close(new DeliveryError("stopped", "it was stopped"));
    expect(log).toEqual(["begin a", "drop b"]);
  });
});

describe("the start of messages", () => {
  test("messages wait until the mailbox opens, and then start in order", () => {
    for (const each of ["a", "b", "c"]) note(each);
    expect([log, mailbox.length, mailbox.isIdle]).toEqual([[], 3, false]);
    mailbox.open();
    expect([log, mailbox.length, mailbox.isIdle]).toEqual([["a", "b", "c"], 0, true]);
  });

  test("a message starts at once if the open mailbox is empty", () => {
    mailbox.open();
    note("a");
    expect(log).toEqual(["a"]);
  });

  test("no message starts while a handler runs, and the others start in order after it", async () => {
    mailbox.open();
    const held = hold();
    note("b");
    note("c");
    await settled();
    expect([log, mailbox.length, mailbox.isIdle]).toEqual([[], 2, false]);
    held.resolve();
    await settled();
    expect([log, mailbox.length, mailbox.isIdle]).toEqual([["b", "c"], 0, true]);
  });

  test("the next message starts after a handler whose promise is rejected", async () => {
    mailbox.open();
    const held = hold({ call: 1 });
    note("b");
    held.reject(new Error("no"));
    await settled();
    expect(log).toEqual(["b"]);
  });

  test("the next message starts while a concurrent handler still runs", async () => {
    mailbox.open();
    const held = hold({ concurrent: true });
    note("b");
    expect([log, mailbox.length, mailbox.isIdle, held.begun]).toEqual([["b"], 0, false, true]);
    held.resolve();
    await settled();
    expect(mailbox.isIdle).toBe(true);
  });

  test("a message that arrives while a handler is being called starts after that call has returned", () => {
    const begun = () => {
      log.push("begun");
      note("came meanwhile");
      log.push("returned");
    };
    mailbox.add(parts.turn(begun, { concurrent: true }));
    mailbox.open();
    expect(log).toEqual(["begun", "returned", "came meanwhile"]);
  });

  test("64 messages start in a row, then the event loop turns, and new messages keep their order", () => {
    for (const each of range(0, 150)) note(each);
    mailbox.open();
    expect([log, mailbox.length]).toEqual([range(0, 64), 86]);
    note(150);
    expect([log.length, mailbox.length]).toEqual([64, 87]);
    expect([parts.clock.turn(), log.length, mailbox.isIdle]).toEqual([1, 128, false]);
    expect([parts.clock.turn(), log, mailbox.isIdle]).toEqual([1, range(0, 151), true]);
    expect(parts.clock.turn()).toBe(0);
  });

  test("the count of 64 messages starts again after the queue has been empty", async () => {
    for (const each of range(0, 40)) note(each);
    mailbox.open();
    const held = hold();
    for (const each of range(40, 100)) note(each);
    held.resolve();
    await settled();
    expect([log, parts.clock.soonTasks.length]).toEqual([range(0, 100), 0]);
  });

  test("64 messages start in a row also if their handlers return promises that resolve at once", async () => {
    for (const each of range(0, 100)) mailbox.add(parts.turn(async () => void log.push(each)));
    mailbox.open();
    await settled();
    expect(log).toEqual(range(0, 64));
    parts.clock.turn();
    await settled();
    expect(log).toEqual(range(0, 100));
  });

  test("thousands of queued messages start once each, in order", () => {
    for (const each of range(0, 3000)) note(each);
    mailbox.open();
    while (parts.clock.turn() > 0);
    expect([log, mailbox.length]).toEqual([range(0, 3000), 0]);
  });

  test("a queued call does not start if its caller has left or timed out, and its answer returns the credit", () => {
    const given = parts.turn(() => log.push("given up"), { call: 1 });
    mailbox.add(given);
    note("late", { call: 2, extension: { timeout: 50 } });
    note("in time", { call: 3, extension: { timeout: 51 } });
    given.cancel(0);
    parts.clock.sleep(50);
    mailbox.open();
    const why = "closed: its caller no longer waited when its turn came";
    expect(log).toEqual(["in time"]);
    expect(parts.told).toEqual([`error 1: ${why}`, `error 2: ${why}`, "answer 3: undefined"]);
  });
});

describe("the limit of an endpoint", () => {
  test("lets other messages overtake the waiting ones, which still count in the mailbox length", async () => {
    mailbox.open();
    const [one, two] = [hold({ concurrent: 1 }), hold({ concurrent: 1 })];
    note("other");
    expect([log, mailbox.length, one.begun, two.begun]).toEqual([["other"], 1, true, false]);
    one.resolve();
    await settled();
    expect([mailbox.length, two.begun, mailbox.isIdle]).toEqual([0, true, false]);
    two.resolve();
    await settled();
    expect(mailbox.isIdle).toBe(true);
  });

  test("lets a waiting message start while a serial handler runs", async () => {
    mailbox.open();
    const [one, two] = [hold({ concurrent: 1 }), hold({ concurrent: 1 })];
    const serial = hold();
    note("after");
    expect(mailbox.length).toBe(2);
    one.resolve();
    await settled();
    expect([two.begun, serial.begun, log, mailbox.length]).toEqual([true, true, [], 1]);
  });
});

describe("the credit of a message", () => {
  test("returns with the answer of a call, and on its own if no answer is expected", () => {
    mailbox.open();
    mailbox.add(parts.turn(() => 5, { call: 1 }));
    mailbox.add(parts.turn(() => 6, { size: 24 }));
    expect(parts.told).toEqual(["answer 1: 5", "credit 24"]);
  });

  test("returns when the handler has ended, not when it starts", async () => {
    mailbox.open();
    const held = hold({ size: 24 });
    expect(parts.told).toEqual([]);
    held.resolve();
    await settled();
    expect(parts.told).toEqual(["credit 24"]);
  });

  test("returns once, at the start of the handler, if the message is concurrent", async () => {
    mailbox.open();
    const [call, message] = [hold({ concurrent: true, call: 1, size: 24 }), hold({ concurrent: true, size: 32 })];
    expect(parts.told).toEqual(["credit 24", "credit 32"]);
    call.resolve("done");
    message.resolve("nobody asks");
    await settled();
    expect(parts.told.slice(2)).toEqual(["answer 1: done, credited"]);
  });

  test("also returns if the handler throws", () => {
    mailbox.open();
    const throwing = () => {
      throw new Error("no");
    };
    mailbox.add(parts.turn(throwing, { call: 1 }));
    mailbox.add(parts.turn(throwing, { size: 24 }));
    mailbox.add(parts.turn(throwing, { size: 32, concurrent: true }));
    expect(parts.told).toEqual(["error 1: thrown by counters[1]: no", "credit 24", "credit 32"]);
    expect(log).toEqual(["failed in increment: no", "failed in increment: no"]);
  });
});

describe("an answer by port", () => {
  const port = (message: Message = {}) => {
    const given: { port?: Port<unknown> } = {};
    mailbox.add(
      parts.turn((it: Port<unknown>) => void Object.assign(given, { port: it }), {
        respond: true,
        call: 1,
        ...message,
      }),
    );
    return given.port as Port<unknown>;
  };

  test("may follow after the end of its handler, and the next message does not wait for it", () => {
    mailbox.open();
    const late = port();
    note("next");
    expect(log).toEqual(["next"]);
    void late.send("late");
    expect(parts.told.filter((line) => line.includes("answer"))).toEqual(["answer 1: late, credited"]);
  });

  test("is the error of the actor if the actor ends first, and later answers are ignored", () => {
    mailbox.open();
    const late = port();
    const answered = port({ call: 2 });
    void answered.send("in time");
    parts.told.length = 0;
    mailbox.close(new DeliveryError("failed", "it has failed"));
    void late.send("too late");
    expect(parts.told).toEqual(["error 1: failed: it has failed, credited"]);
  });

  test("is the error of a handler that throws, and the actor fails if no caller waits", () => {
    mailbox.open();
    const throwing = () => {
      throw new Error("no");
    };
    mailbox.add(parts.turn(throwing, { respond: true, call: 1 }));
    expect([parts.told.at(-1), log]).toEqual(["error 1: thrown by counters[1]: no, credited", []]);
    mailbox.add(parts.turn(throwing, { respond: true }));
    expect(log).toEqual(["failed in increment: no"]);
  });

  test("is the error of the actor also while the handler still runs, and no other answer follows", () => {
    mailbox.open();
    const given: Port<unknown>[] = [];
    const method = (port: Port<unknown>) => {
      given.push(port);
      return new Promise(() => {});
    };
    mailbox.add(parts.turn(method, { respond: true, call: 4 }));
    mailbox.close(new DeliveryError("failed", "it has failed"));
    void given[0]!.send("too late");
    expect(parts.told.slice(1)).toEqual(["error 4: failed: it has failed, credited"]);
  });
});

describe("a caller that leaves", () => {
  test("cancels only the given call of its own lane, whether that call runs or waits", async () => {
    mailbox.open();
    const other = parts.newLane("other");
    const held = hold({ call: 1 });
    const turn = held.turn as Turn;
    note("waits", { call: 2 });
    note("of the other", { call: 2, lane: other });
    mailbox.cancel(other, 1, 0);
    expect(turn.isCancelled).toBe(false);
    mailbox.cancel(parts.lane, 1, 0);
    expect(turn.isCancelled).toBe(true);
    mailbox.cancel(parts.lane, 2, 0);
    held.resolve("all the same");
    await settled();
    expect(log).toEqual(["of the other"]);
  });

  test("aborts the signal of the handler with the reason of the cancellation", () => {
    mailbox.open();
    const held = hold({ call: 1, concurrent: true });
    const { signal } = held.turn as Turn;
    mailbox.cancel(parts.lane, 1, 1);
    expect((signal.reason as Error).name).toBe("TimeoutError");
  });

  test("cancels all calls of its lane, but no other messages and no calls of other lanes", async () => {
    mailbox.open();
    const other = parts.newLane("other");
    const [held, concurrent] = [hold({ call: 1 }), hold({ call: 2, concurrent: true })];
    note("call", { call: 3 });
    note("message");
    note("call of another", { call: 3, lane: other });
    const limited = [hold({ call: 4, concurrent: 1 }), hold({ call: 5, concurrent: 1 })];
    mailbox.cancelLane(parts.lane, 0);
    held.resolve();
    await settled();
    expect((held.turn as Turn).isCancelled).toBe(true);
    expect(concurrent.begun || limited.some(({ begun }) => begun)).toBe(false);
    expect(log).toEqual(["message", "call of another"]);
  });
});

describe("the end of a mailbox", () => {
  const end = new DeliveryError("failed", "it has failed");

  test("rejects each running and queued call once, and returns queued messages to their senders", async () => {
    mailbox.open();
    const held = [hold({ call: 1, concurrent: true }), hold({ call: 2, concurrent: 1 })];
    hold({ call: 4, concurrent: 1 });
    held.push(hold({ call: 3 }));
    note("call", { call: 5 });
    note("message", { slot: 6, size: 40 });
    parts.told.length = 0;
    mailbox.close(end);
    const told = [...parts.told].sort();
    expect(told).toEqual([
      "back 6: it has failed",
      "credit 40",
      "error 1: failed: it has failed, credited",
      "error 2: failed: it has failed, credited",
      "error 3: failed: it has failed",
      "error 4: failed: it has failed",
      "error 5: failed: it has failed",
    ]);
    for (const { turn, resolve } of held) {
      expect([(turn as Turn).isCancelled, (turn as Turn).isEnded]).toEqual([true, true]);
      resolve("nobody asks");
    }
    await settled();
    expect([parts.told.length, log, mailbox.length, mailbox.isIdle]).toEqual([told.length, [], 0, true]);
  });

  test("sends nothing for a running message that expects no answer", () => {
    mailbox.open();
    const held = hold({ size: 8 });
    mailbox.close(end);
    expect([parts.told, (held.turn as Turn).isEnded]).toEqual([[], true]);
  });

  test("answers a running call once, even if its handler rejects later", async () => {
    mailbox.open();
    const held = hold({ call: 1 });
    mailbox.close(end);
    held.reject(new Error("late"));
    await settled();
    expect([parts.told, log]).toEqual([["error 1: failed: it has failed"], []]);
  });

  test("causes no unhandled rejection if a handler rejects later", async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown) => void unhandled.push(error);
    process.on("unhandledRejection", listen);
    mailbox.open();
    const held = hold();
    mailbox.close(end);
    held.reject(new Error("late"));
    await settled();
    await settled();
    process.off("unhandledRejection", listen);
    expect([unhandled, log]).toEqual([[], []]);
  });

  test("does not abort the signal of the message that has caused the end by throwing", () => {
    const failing = new Mailbox({ ...owner, messageFailed: () => failing.close(end) }, parts.clock, undefined);
    failing.open();
    const turn = parts.turn(() => {
      turn.signal.addEventListener("abort", () => log.push("aborted"));
      throw new Error("no");
    });
    failing.add(turn);
    expect([log, turn.isEnded, turn.isCancelled, failing.isIdle]).toEqual([[], true, false, true]);
  });

  test("rejects only calls that still wait, not those that were handled before", () => {
    for (const each of range(0, 70)) note(each, { call: each + 1 });
    mailbox.open();
    parts.told.length = 0;
    mailbox.close(end);
    expect(parts.told).toEqual(range(65, 71).map((call) => `error ${call}: failed: it has failed`));
  });

  test("lets no message start afterwards", async () => {
    mailbox.open();
    const held = hold({ concurrent: true });
    mailbox.close(end);
    note("too late");
    held.resolve();
    await settled();
    expect(log).toEqual([]);
  });

  test("stops the watchdog", () => {
    const handlerSlow = (message: string) => void log.push(message);
    const watchdog = new Watchdog(
      { name: "counters[1]", handlerSlow, handlerStuck: () => {} },
      { warn: 10, grace: 10 },
      parts.clock,
    );
    mailbox = new Mailbox(owner, parts.clock, watchdog);
    mailbox.open();
    hold();
    expect(parts.clock.waiting).toBe(1);
    mailbox.close(end);
    expect(parts.clock.waiting).toBe(0);
  });
});

test("the watchdog is told when handlers start and end", async () => {
  const handlerSlow = (message: string) => void log.push(message);
  const watchdog = new Watchdog(
    { name: "counters[1]", handlerSlow, handlerStuck: () => {} },
    { warn: 10, grace: 100 },
    parts.clock,
  );
  mailbox = new Mailbox(owner, parts.clock, watchdog);
  mailbox.open();
  const ends = hold();
  ends.resolve();
  await settled();
  hold({ name: "hang" });
  parts.clock.pass(10);
  expect(log).toEqual([
    "counters[1].hang, which root has sent, has been running for 10 ms: it awaits something that is no call",
  ]);
});

describe("whenDrained", () => {
  const drained = () => {
    const state = { yes: false };
    void mailbox.whenDrained().then(() => {
      state.yes = true;
    });
    return state;
  };

  test("resolves at once if the open mailbox is empty", async () => {
    mailbox.open();
    const state = drained();
    await settled();
    expect(state.yes).toBe(true);
  });

  test.each<[string, Message[]]>([
    ["a handler that runs", [{}]],
    ["a concurrent handler", [{ concurrent: true }]],
    ["several concurrent handlers", [{ concurrent: true }, { concurrent: true }]],
    ["a message that waits for the limit of its endpoint", [{ concurrent: 1 }, { concurrent: 1 }]],
    ["a queued message", [{}, {}]],
  ])("waits for %s, and then resolves all of its promises", async (_, messages) => {
    mailbox.open();
    const held = messages.map((message) => hold(message));
    const states = [drained(), drained()];
    for (const { resolve } of held) {
      await settled();
      expect(states.map(({ yes }) => yes)).toEqual([false, false]);
      resolve();
    }
    await settled();
    expect(states.map(({ yes }) => yes)).toEqual([true, true]);
  });

  test("resolves when the mailbox closes", async () => {
    mailbox.open();
    hold();
    const state = drained();
    mailbox.close(new DeliveryError("stopped", "it was stopped"));
    await settled();
    expect(state.yes).toBe(true);
  });

  test("waits until the mailbox opens if messages are queued", async () => {
    note("a");
    const state = drained();
    await settled();
    expect(state.yes).toBe(false);
    mailbox.open();
    await settled();
    expect(state.yes).toBe(true);
  });
});

test("the calls of a mailbox are those that run or wait, without those whose turns have ended", async () => {
  mailbox.open();
  hold({ call: 1, concurrent: true });
  hold({ concurrent: true });
  hold({ call: 2, concurrent: 1 });
  hold({ call: 3, concurrent: 1 });
  const serial = hold({ call: 4 });
  note("waits", { call: 5 });
  note("waits, and nobody asks");
  const calls = () => mailbox.calls.map(({ call }) => call).sort();
  expect(calls()).toEqual([1, 2, 3, 4, 5]);
  (serial.turn as Turn).end();
  expect(calls()).toEqual([1, 2, 3, 5]);
});

test("a mailbox is awaited by the actors in the chains of queued messages, but not of running ones", () => {
  mailbox.open();
  hold({ call: 1, extension: { chain: [1, 1] } });
  note("call", { call: 2, extension: { chain: [2, 2, 3, 3] } });
  note("no chain", { call: 3 });
  const waits = (...token: [number, number]) => mailbox.isAwaitedBy(token);
  // The running message has left the queue, so the actors in its chain do not wait for the mailbox.
  expect([waits(1, 1), waits(2, 2), waits(3, 3), waits(4, 4)]).toEqual([false, true, true, false]);
});

describe("afterHandling", () => {
  const mark = (name: string) => mailbox.afterHandling(() => void log.push(name));

  test("notifies at once if the mailbox is empty", () => {
    mailbox.open();
    mark("mark");
    expect(log).toEqual(["mark"]);
  });

  test("notifies when the last earlier message has been handled, without waiting for later messages", async () => {
    mailbox.open();
    const first = hold();
    const last = hold();
    mark("mark");
    const later = hold();
    note("later still");
    await settled();
    first.resolve();
    await settled();
    expect([last.begun, log]).toEqual([true, []]);
    last.resolve();
    await settled();
    expect([later.begun, log]).toEqual([true, ["mark"]]);
    later.resolve();
    await settled();
    expect(log).toEqual(["mark", "later still"]);
  });

  test("does not notify while a message before the last earlier one is being handled", async () => {
    mailbox.open();
    const [first, second, last] = [hold(), hold(), hold()];
    mark("mark");
    first.resolve();
    await settled();
    expect([second.begun, log]).toEqual([true, []]);
    second.resolve();
    await settled();
    expect([last.begun, log]).toEqual([true, []]);
    last.resolve();
    await settled();
    expect(log).toEqual(["mark"]);
  });

  test("notifies when the running handler has ended if no message is queued", async () => {
    mailbox.open();
    const held = hold();
    mark("mark");
    await settled();
    expect(log).toEqual([]);
    held.resolve();
    await settled();
    expect(log).toEqual(["mark"]);
  });

  test("notifies in the order of the requests, each one after the messages that arrived before it", async () => {
    mailbox.open();
    const held = hold();
    note("a");
    mark("behind a");
    mark("behind a, too");
    note("b");
    mark("behind b");
    await settled();
    expect(log).toEqual([]);
    held.resolve();
    await settled();
    expect(log.filter((entry) => String(entry).startsWith("behind"))).toEqual([
      "behind a",
      "behind a, too",
      "behind b",
    ]);
    expect(log.indexOf("a")).toBeLessThan(log.indexOf("behind a"));
    expect(log.indexOf("b")).toBeLessThan(log.indexOf("behind b"));
  });

  test("notifies when a concurrent message has started, before its handler ends", async () => {
    mailbox.open();
    const first = hold();
    const concurrent = hold({ concurrent: true });
    mark("mark");
    first.resolve();
    await settled();
    expect([concurrent.begun, log]).toEqual([true, ["mark"]]);
    concurrent.resolve();
    await settled();
    expect(log).toEqual(["mark"]);
  });

  test("notifies when the mailbox closes", async () => {
    mailbox.open();
    hold();
    note("never");
    mark("mark");
    mailbox.close(new DeliveryError("stopped", "it is over"));
    await settled();
    expect(log).toEqual(["mark"]);
  });
});

describe("a call that is answered by port", () => {
  const answer = (call: number) => {
    let port: Port<unknown> | undefined;
    mailbox.add(
      parts.turn(
        (given) => {
          port = given as Port<unknown>;
        },
        { call, respond: true },
      ),
    );
    return () => port!.send("answer");
  };

  test("keeps the mailbox busy until it is answered, even if its handler has ended", async () => {
    mailbox.open();
    const send = answer(1);
    await settled();
    let drained = false;
    void mailbox.whenDrained().then(() => {
      drained = true;
    });
    await settled();
    expect([mailbox.isIdle, drained]).toEqual([false, false]);
    await send();
    await settled();
    expect([mailbox.isIdle, drained]).toEqual([true, true]);
  });

  test("leaves the mailbox idle if no caller waits for the answer", async () => {
    mailbox.open();
    answer(0);
    await settled();
    expect(mailbox.isIdle).toBe(true);
    await mailbox.whenDrained();
  });
});
