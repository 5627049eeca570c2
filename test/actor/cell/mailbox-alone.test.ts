/** The mailbox by itself: what starts when, what is answered, and whose credit goes back. */
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

/** Adds a message whose handler ends when it is told. */
function hold(message?: Message): Held {
  const held = new Held();
  mailbox.add(parts.turn(held.method, message));
  return held;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe("what starts", () => {
  test("is nothing before the mailbox is open, and then all in order", () => {
    for (const each of ["a", "b", "c"]) note(each);
    expect([log, mailbox.length, mailbox.isIdle]).toEqual([[], 3, false]);
    mailbox.open();
    expect([log, mailbox.length, mailbox.isIdle]).toEqual([["a", "b", "c"], 0, true]);
  });

  test("is a message at once when nothing is before it", () => {
    mailbox.open();
    note("a");
    expect(log).toEqual(["a"]);
  });

  test("is nothing while a handler runs, and the rest in order when that has ended", async () => {
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

  test("is the rest after a handler whose promise is rejected", async () => {
    mailbox.open();
    const held = hold({ call: 1 });
    note("b");
    held.reject(new Error("no"));
    await settled();
    expect(log).toEqual(["b"]);
  });

  test("is what follows a concurrent message, although that goes on", async () => {
    mailbox.open();
    const held = hold({ concurrent: true });
    note("b");
    expect([log, mailbox.length, mailbox.isIdle, held.begun]).toEqual([["b"], 0, false, true]);
    held.resolve();
    await settled();
    expect(mailbox.isIdle).toBe(true);
  });

  test("is nothing inside of a handler that is being called: what comes meanwhile starts when that has returned", () => {
    const begun = () => {
      log.push("begun");
      note("came meanwhile");
      log.push("returned");
    };
    mailbox.add(parts.turn(begun, { concurrent: true }));
    mailbox.open();
    expect(log).toEqual(["begun", "returned", "came meanwhile"]);
  });

  test("are 64 messages in a row; then the event loop turns, and what comes meanwhile keeps its place", () => {
    for (const each of range(0, 150)) note(each);
    mailbox.open();
    expect([log, mailbox.length]).toEqual([range(0, 64), 86]);
    note(150);
    expect([log.length, mailbox.length]).toEqual([64, 87]);
    expect([parts.clock.turn(), log.length, mailbox.isIdle]).toEqual([1, 128, false]);
    expect([parts.clock.turn(), log, mailbox.isIdle]).toEqual([1, range(0, 151), true]);
    expect(parts.clock.turn()).toBe(0);
  });

  test("are 64 in a row again once the queue has been empty", async () => {
    for (const each of range(0, 40)) note(each);
    mailbox.open();
    const held = hold();
    for (const each of range(40, 100)) note(each);
    held.resolve();
    await settled();
    expect([log, parts.clock.soonTasks.length]).toEqual([range(0, 100), 0]);
  });

  test("are 64 in a row, too, where handlers await what is there already", async () => {
    for (const each of range(0, 100)) mailbox.add(parts.turn(async () => void log.push(each)));
    mailbox.open();
    await settled();
    expect(log).toEqual(range(0, 64));
    parts.clock.turn();
    await settled();
    expect(log).toEqual(range(0, 100));
  });

  test("keeps its order, and comes once, in a queue of thousands", () => {
    for (const each of range(0, 3000)) note(each);
    mailbox.open();
    while (parts.clock.turn() > 0);
    expect([log, mailbox.length]).toEqual([range(0, 3000), 0]);
  });

  test("is no message whose caller has left, or whose time is over: its answer brings its credit back", () => {
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

describe("a limit of an endpoint", () => {
  test("makes messages wait that others overtake, and those that wait count as waiting", async () => {
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

  test("lets what waits start beside a serial handler", async () => {
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

describe("credit", () => {
  test("goes back with the answer of a call, and by itself when nobody waits for one", () => {
    mailbox.open();
    mailbox.add(parts.turn(() => 5, { call: 1 }));
    mailbox.add(parts.turn(() => 6, { size: 24 }));
    expect(parts.told).toEqual(["answer 1: 5", "credit 24"]);
  });

  test("goes back when the handler has ended, not when it begins", async () => {
    mailbox.open();
    const held = hold({ size: 24 });
    expect(parts.told).toEqual([]);
    held.resolve();
    await settled();
    expect(parts.told).toEqual(["credit 24"]);
  });

  test("of a concurrent message goes back when it starts, once", async () => {
    mailbox.open();
    const [call, message] = [hold({ concurrent: true, call: 1, size: 24 }), hold({ concurrent: true, size: 32 })];
    expect(parts.told).toEqual(["credit 24", "credit 32"]);
    call.resolve("done");
    message.resolve("nobody asks");
    await settled();
    expect(parts.told.slice(2)).toEqual(["answer 1: done, credited"]);
  });

  test("of what throws goes back all the same", () => {
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

  test("comes after its handler, and the next message does not wait for it", () => {
    mailbox.open();
    const late = port();
    note("next");
    expect(log).toEqual(["next"]);
    void late.send("late");
    expect(parts.told.filter((line) => line.includes("answer"))).toEqual(["answer 1: late, credited"]);
  });

  test("is the error of the actor that ends before, and what is sent afterwards reaches nobody", () => {
    mailbox.open();
    const late = port();
    const answered = port({ call: 2 });
    void answered.send("in time");
    parts.told.length = 0;
    mailbox.close(new DeliveryError("failed", "it has failed"));
    void late.send("too late");
    expect(parts.told).toEqual(["error 1: failed: it has failed, credited"]);
  });

  test("is the error of a handler that throws; where nobody waits for an answer, its actor fails", () => {
    mailbox.open();
    const throwing = () => {
      throw new Error("no");
    };
    mailbox.add(parts.turn(throwing, { respond: true, call: 1 }));
    expect([parts.told.at(-1), log]).toEqual(["error 1: thrown by counters[1]: no, credited", []]);
    mailbox.add(parts.turn(throwing, { respond: true }));
    expect(log).toEqual(["failed in increment: no"]);
  });

  test("of a handler that still runs when the actor ends is that error too, and no other comes after it", () => {
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
  test("takes back the one call, of its own lane: running or waiting", async () => {
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

  test("says why: the handler's signal is aborted for that reason", () => {
    mailbox.open();
    const held = hold({ call: 1, concurrent: true });
    const { signal } = held.turn as Turn;
    mailbox.cancel(parts.lane, 1, 1);
    expect((signal.reason as Error).name).toBe("TimeoutError");
  });

  test("with its lane takes all of its calls back, and leaves its other messages and those of others", async () => {
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

describe("the end", () => {
  const end = new DeliveryError("failed", "it has failed");

  test("is told to whoever waits, once, whether their messages run or wait", async () => {
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

  test("says nothing to those whose messages no answer was asked of, while they run", () => {
    mailbox.open();
    const held = hold({ size: 8 });
    mailbox.close(end);
    expect([parts.told, (held.turn as Turn).isEnded]).toEqual([[], true]);
  });

  test("comes once for a handler that fails its actor and then returns", async () => {
    mailbox.open();
    const held = hold({ call: 1 });
    mailbox.close(end);
    held.reject(new Error("late"));
    await settled();
    expect([parts.told, log]).toEqual([["error 1: failed: it has failed"], []]);
  });

  test("leaves nothing behind of a handler that rejects afterwards", async () => {
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

  test("of an actor whose message has thrown aborts nothing of that message: it has ended by itself", () => {
    const failing = new Mailbox({ ...owner, messageFailed: () => failing.close(end) }, parts.clock, undefined);
    failing.open();
    const turn = parts.turn(() => {
      turn.signal.addEventListener("abort", () => log.push("aborted"));
      throw new Error("no");
    });
    failing.add(turn);
    expect([log, turn.isEnded, turn.isCancelled, failing.isIdle]).toEqual([[], true, false, true]);
  });

  test("sends back what waits, and nothing of what was handled before", () => {
    for (const each of range(0, 70)) note(each, { call: each + 1 });
    mailbox.open();
    parts.told.length = 0;
    mailbox.close(end);
    expect(parts.told).toEqual(range(65, 71).map((call) => `error ${call}: failed: it has failed`));
  });

  test("lets nothing start afterwards", async () => {
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

test("the watchdog sees handlers begin and end", async () => {
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

describe("drained", () => {
  const drained = () => {
    const state = { yes: false };
    void mailbox.whenDrained().then(() => {
      state.yes = true;
    });
    return state;
  };

  test("is at once what has nothing to do", async () => {
    mailbox.open();
    const state = drained();
    await settled();
    expect(state.yes).toBe(true);
  });

  test.each<[string, Message[]]>([
    ["a handler that runs", [{}]],
    ["a concurrent one", [{ concurrent: true }]],
    ["several of those", [{ concurrent: true }, { concurrent: true }]],
    ["one that waits for others of its endpoint", [{ concurrent: 1 }, { concurrent: 1 }]],
    ["one that waits", [{}, {}]],
  ])("is not what has %s, and everybody is told when that has ended", async (_, messages) => {
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

  test("is what is closed", async () => {
    mailbox.open();
    hold();
    const state = drained();
    mailbox.close(new DeliveryError("stopped", "it was stopped"));
    await settled();
    expect(state.yes).toBe(true);
  });

  test("is not what has not been opened", async () => {
    note("a");
    const state = drained();
    await settled();
    expect(state.yes).toBe(false);
    mailbox.open();
    await settled();
    expect(state.yes).toBe(true);
  });
});

test("the calls that nobody has answered are those that run or wait", async () => {
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

test("an actor is waited for by whoever is in the chain of a message that waits", () => {
  mailbox.open();
  hold({ call: 1, extension: { chain: [1, 1] } });
  note("call", { call: 2, extension: { chain: [2, 2, 3, 3] } });
  note("no chain", { call: 3 });
  const waits = (...token: [number, number]) => mailbox.isAwaitedBy(token);
  // The one that runs has its turn: what its chain waits for is not this mailbox.
  expect([waits(1, 1), waits(2, 2), waits(3, 3), waits(4, 4)]).toEqual([false, true, true, false]);
});

describe("whoever waits until everything that is here has been handled", () => {
  const mark = (name: string) => mailbox.afterHandling(() => void log.push(name));

  test("is told at once where nothing is here", () => {
    mailbox.open();
    mark("mark");
    expect(log).toEqual(["mark"]);
  });

  test("is told when the last message that had come has been handled, before those that came later", async () => {
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

  test("is told when what is being handled has ended, where nothing waits", async () => {
    mailbox.open();
    const held = hold();
    mark("mark");
    await settled();
    expect(log).toEqual([]);
    held.resolve();
    await settled();
    expect(log).toEqual(["mark"]);
  });

  test("is told in the order of asking, each behind the messages that it asked about", async () => {
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

  test("is told of a concurrent message when it has started", async () => {
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

  test("is told when the mailbox ends", async () => {
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

  test("keeps the mailbox busy until it has been answered, although its handler has ended", async () => {
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

  test("keeps nobody waiting where no caller waits for the answer", async () => {
    mailbox.open();
    answer(0);
    await settled();
    expect(mailbox.isIdle).toBe(true);
    await mailbox.whenDrained();
  });
});
