/** What was sent to a receiver that has moved: when later messages need not wait for it, and when all of it is answered. */
import { expect, test } from "vitest";
import type { PendingCall } from "../../runtime/link/calls.js";
import { Leaving } from "../../runtime/link/leaving.js";
import { FakeSender } from "./fake-host.js";

const call = (): PendingCall => ({
  id: 1,
  session: undefined,
  credit: 0,
  abandoned: false,
  answered() {},
  failed() {},
  item() {},
  ended() {},
});

/** Notes what is told, in its order. */
function leavingWith(...calls: PendingCall[]) {
  const sender = new FakeSender();
  const leaving = new Leaving(sender, calls);
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
  leaving.handled();
  expect([news(), leaving.isHandled]).toEqual([["handled", "handled too", "answered"], true]);
  leaving.handled();
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
  leaving.handled();
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
  early.leaving.handled();
  expect(early.news()).toEqual(["handled", "handled too", "answered"]);
});

test("what is told of the end may ask for it again, and is told once", () => {
  const { leaving, news, told } = leavingWith();
  leaving.afterAnswers(() => {
    leaving.handled();
    leaving.afterAnswers(() => told.push("asked later"));
  });
  leaving.handled();
  expect(news()).toEqual(["handled", "handled too", "answered", "asked later"]);
});

test("with the end of its session nothing is waited for any more", () => {
  const { leaving, news } = leavingWith(call());
  leaving.end();
  expect([news(), leaving.isHandled]).toEqual([["handled", "handled too", "answered"], true]);
  const handled = leavingWith(call());
  handled.leaving.handled();
  handled.news();
  handled.leaving.end();
  handled.leaving.end();
  expect(handled.news()).toEqual(["answered"]);
});
