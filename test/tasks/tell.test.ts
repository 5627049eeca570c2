/** Tests of messages without an answer to receivers that are busy or have ended. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { BackpressureError } from "../../runtime/index.js";
import { tell } from "../../runtime/tasks/tell.js";

test("messages that wait for a busy receiver are sent in their order, before later ones, and others do not wait", async () => {
  const [busy, idle] = [{}, {}];
  let isBusy = true;
  const received: string[] = [];
  const sender = (text: string, isRefused: () => boolean) => () => {
    if (isRefused()) throw new BackpressureError("the outbox is full");
    received.push(text);
  };
  tell(
    busy,
    sender("suspend", () => isBusy),
  );
  isBusy = false;
  tell(
    busy,
    sender("resume", () => isBusy),
  );
  tell(
    idle,
    sender("to another one", () => false),
  );
  expect(received).toEqual(["to another one"]);
  while (received.length < 3) await sleep(1);
  tell(
    busy,
    sender("suspend again", () => isBusy),
  );
  expect(received).toEqual(["to another one", "suspend", "resume", "suspend again"]);
});

test("an error that is not about the receiver reaches the sender", () => {
  const send = () => {
    throw new TypeError("cannot send this");
  };
  expect(() => tell({}, send)).toThrow(new TypeError("cannot send this"));
});
