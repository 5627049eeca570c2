/** What was sent to a receiver that has moved: when later messages need not wait for it, and when all of it is answered. */
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

/** Notes what is told, in its order. */
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

test("later messages wait until everything was handled, and no longer", () => {
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

test("it is over when every call has its answer besides, in whichever order", () => {
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

test("what is told of the end may ask for it again, and is told once", () => {
  const { leaving, news, told } = leavingWith();
  leaving.afterAnswers(() => {
    leaving.markHandled();
    leaving.afterAnswers(() => told.push("asked later"));
  });
  leaving.markHandled();
  expect(news()).toEqual(["handled", "handled too", "answered", "asked later"]);
});

test("with the end of its session nothing is waited for any more", () => {
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
