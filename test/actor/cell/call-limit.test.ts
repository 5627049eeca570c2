/** These tests check that a mailbox holds messages back after a number of them, and passes them on, without a process. */
import { beforeEach, expect, test } from "vitest";
import { CallLimit, RUNNING_MS } from "../../../runtime/actor/cell/call-limit.js";
import { Mailbox } from "../../../runtime/actor/cell/mailbox.js";
import type { MessagePasser } from "../../../runtime/actor/cell/message-passer.js";
import { DeliveryError } from "../../../runtime/actor/errors.js";
import { Held, type Message, Parts, settled } from "../parts.js";

let parts: Parts;
let mailbox: Mailbox;
let log: string[];

const owner = { name: "counters[1]", messageFailed: () => {} };

function open(maxCalls: number): void {
  mailbox = new Mailbox(owner, parts.clock, undefined, new CallLimit(maxCalls, parts.clock, () => log.push("spent")));
  mailbox.open();
}

beforeEach(() => {
  parts = new Parts();
  log = [];
  open(2);
});

function note(what: string, message?: Message): void {
  mailbox.add(parts.turn(() => void log.push(what), message));
}

function hold(message?: Message): Held {
  const held = new Held();
  mailbox.add(parts.turn(held.method, message));
  return held;
}

/** Passes messages on to a log. `whenHandled` resolves when the test says so. */
class LoggingPasser implements MessagePasser {
  readonly answers: Held[] = [];
  pass(_turn: unknown, _endpoint: unknown, args: readonly unknown[]): unknown {
    log.push(`passed on ${args.length}`);
    const held = new Held();
    this.answers.push(held);
    return held.method();
  }
  whenHandled(): Promise<void> {
    return Promise.resolve();
  }
}

test("the messages after the limit wait, and the replacement is asked for once", async () => {
  for (const what of ["a", "b", "c"]) note(what);
  await settled();
  expect([log, mailbox.length, mailbox.isIdle]).toEqual([["a", "b", "spent"], 1, false]);
  note("d");
  await settled();
  expect(log).toEqual(["a", "b", "spent"]);
});

test("the replacement is asked for when the running handlers have ended, and no message starts meanwhile", async () => {
  const running = hold({ concurrent: true });
  for (const what of ["a", "b", "c"]) note(what);
  await settled();
  expect(log).toEqual(["a", "b"]);
  running.resolve();
  await settled();
  expect(log).toEqual(["a", "b", "spent"]);
});

test("a state can be saved while messages are held back", async () => {
  for (const what of ["a", "b", "c"]) note(what);
  await settled();
  mailbox.runBetween(
    async () => void log.push("saved"),
    () => log.push("dropped"),
  );
  await settled();
  expect(log).toEqual(["a", "b", "spent", "saved"]);
});

test("messages start again if a handler goes on for too long, and as many are handled before the next attempt", async () => {
  const running = hold({ concurrent: true });
  for (const what of ["a", "b", "c", "d", "e"]) note(what);
  await settled();
  parts.clock.pass(RUNNING_MS - 1);
  await settled();
  expect(log).toEqual(["a", "b"]);
  parts.clock.pass(1);
  await settled();
  expect(log).toEqual(["a", "b", "c", "d"]);
  running.resolve();
  await settled();
  expect(log).toEqual(["a", "b", "c", "d", "spent"]);
});

test("messages are passed on one at a time, those that are handled concurrently at once, and later ones too", async () => {
  for (const what of ["a", "b", "c", "d"]) note(what);
  note("e", { concurrent: true });
  await settled();
  const passer = new LoggingPasser();
  mailbox.passOn(passer);
  await settled();
  expect(log).toEqual(["a", "b", "spent", "passed on 0"]);
  passer.answers[0]!.resolve();
  await settled();
  passer.answers[1]!.resolve();
  await settled();
  note("f");
  await settled();
  expect(log).toEqual(["a", "b", "spent", ...Array(4).fill("passed on 0")]);
  expect(mailbox.passer).toBe(passer);
});

test("messages that are held back are handled when the actor stops", async () => {
  for (const what of ["a", "b", "c"]) note(what);
  await settled();
  mailbox.endCount();
  await settled();
  expect([log, mailbox.isIdle]).toEqual([["a", "b", "spent", "c"], true]);
  mailbox.endCount();
  note("d");
  expect(log.at(-1)).toBe("d");
});

test("a mailbox that is closed does not start messages later", async () => {
  hold({ concurrent: true });
  for (const what of ["a", "b", "c"]) note(what);
  await settled();
  mailbox.close(new DeliveryError("stopped", "enough"));
  parts.clock.pass(RUNNING_MS);
  await settled();
  expect(log).toEqual(["a", "b"]);
});
