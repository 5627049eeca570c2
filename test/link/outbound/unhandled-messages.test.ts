/** Tests of the messages for a receiver that has moved: when later messages can be sent, and when all calls are answered. */
import { expect, test } from "vitest";
import type { PendingCall } from "../../../runtime/link/outbound/pending-calls.js";
import { UnhandledMessages } from "../../../runtime/link/outbound/unhandled-messages.js";
import { FakeSender } from "../fake-host.js";

const call = (): PendingCall => ({
  id: 1,
  session: undefined,
  credit: 0,
  isAbandoned: false,
  answered() {},
  failed() {},
  item() {},
  ended() {},
});

/** Records the callbacks, in order. */
function leavingWith(...calls: PendingCall[]) {
  const sender = new FakeSender();
  const leaving = new UnhandledMessages(sender, calls);
  expect(leaving.sender).toBe(sender);
  const told: string[] = [];
  leaving.afterAnswers(() => told.push("answered"));
  leaving.afterHandling(() => told.push("handled"));
  leaving.afterHandling(() => told.push("handled too"));
  return { leaving, news: () => told.splice(0), told };
}

test("later messages wait until all earlier messages have been handled, and no longer", () => {
  const { leaving, news, told } = leavingWith();
  expect([news(), leaving.isHandled]).toEqual([[], false]);
  leaving.markHandled();
  expect([news(), leaving.isHandled]).toEqual([["handled", "handled too", "answered"], true]);
  leaving.markHandled();
  expect(news()).toEqual([]);
  leaving.afterHandling(() => told.push("at once"));
  leaving.afterAnswers(() => told.push("at once too"));
  expect(news()).toEqual(["at once", "at once too"]);
});

test("the record ends when all messages are handled and all calls are answered, in either order", () => {
  const [one, two] = [call(), call()];
  const { leaving, news, told } = leavingWith(one, two);
  leaving.callEnded(one);
  expect(news()).toEqual([]);
  leaving.markHandled();
  expect(news()).toEqual(["handled", "handled too"]);
  leaving.afterAnswers(() => told.push("answered too"));
  leaving.callEnded(call());
  expect(news()).toEqual([]);
  leaving.callEnded(two);
  expect(news()).toEqual(["answered", "answered too"]);
  leaving.callEnded(two);
  expect(news()).toEqual([]);
  const early = leavingWith(one);
  early.leaving.callEnded(one);
  expect(early.news()).toEqual([]);
  early.leaving.markHandled();
  expect(early.news()).toEqual(["handled", "handled too", "answered"]);
});

test("a callback may register another one, and each is called once", () => {
  const { leaving, news, told } = leavingWith();
  leaving.afterAnswers(() => {
    leaving.markHandled();
    leaving.afterAnswers(() => told.push("asked later"));
  });
  leaving.markHandled();
  expect(news()).toEqual(["handled", "handled too", "answered", "asked later"]);
});

test("the end of the session calls all waiting callbacks", () => {
  const { leaving, news } = leavingWith(call());
  leaving.sessionEnded();
  expect([news(), leaving.isHandled]).toEqual([["handled", "handled too", "answered"], true]);
  const handled = leavingWith(call());
  handled.leaving.markHandled();
  handled.news();
  handled.leaving.sessionEnded();
  handled.leaving.sessionEnded();
  expect(handled.news()).toEqual(["answered"]);
});
