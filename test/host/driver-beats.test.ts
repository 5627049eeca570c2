/** Tests of the heartbeats that a driver sends itself. */
import { expect, test } from "vitest";
import { ActorError } from "../../runtime/actor/errors.js";
import { DriverBeats } from "../../runtime/host/attached/driver-beats.js";
import { ManualClock } from "../link/resumable/cut-world.js";

/** Lets the answers of a turn be handled. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

function start(send: () => Promise<void>) {
  const clock = new ManualClock();
  const reasons: string[] = [];
  const beats = new DriverBeats({ clock, silence: 1200, send, gone: (reason) => reasons.push(reason) });
  return { clock, reasons, beats };
}

test("a host that answers is kept, and one that stops to answer is gone after the silence", async () => {
  let sent = 0;
  let answers = true;
  const { clock, reasons } = start(async () => {
    sent++;
    if (!answers) throw new Error("the connection was lost");
  });
  for (let i = 1; i <= 50; i++) {
    await turn();
    clock.pass(100);
  }
  await turn();
  expect([sent, reasons]).toEqual([51, []]);
  answers = false;
  for (let i = 1; i <= 12; i++) {
    clock.pass(100);
    await turn();
  }
  expect(reasons).toEqual(["it has not answered for 1200 ms"]);
  const before = sent;
  clock.pass(5000);
  await turn();
  expect([sent, clock.waiting]).toEqual([before, 0]);
});

test("a host that does not know the driver is gone at once", async () => {
  const { clock, reasons } = start(() =>
    Promise.reject(
      Object.create(ActorError.prototype, { message: { value: "this host has no session with the driver" } }),
    ),
  );
  await turn();
  expect([reasons, clock.waiting]).toEqual([["this host has no session with the driver"], 0]);
});

test("beats that were stopped are not sent, whatever is answered later", async () => {
  let answer = (_error: Error) => {};
  const waiting = new Promise<void>((_, reject) => {
    answer = reject;
  });
  const { clock, reasons, beats } = start(() => waiting);
  beats.stop();
  answer(new Error("the link has ended"));
  await turn();
  clock.pass(5000);
  expect([reasons, clock.waiting]).toEqual([[], 0]);
});
