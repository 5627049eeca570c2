/** Tests of the delivery of bytes and ends by pipes inside one process, turn by turn, on a clock that the test controls. */
import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../../../runtime/link/clock.js";
import { inProcessPipePair, loopbackPipe } from "../../../../runtime/link/transport/in-process/pipe.js";
import { deliverBytes } from "../../../../runtime/link/transport/pipe.js";
import { RecordingSink } from "../recording-sink.js";

/** A clock on which the test runs the turns of the event loop. */
function handClock() {
  let tasks: (() => void)[] = [];
  const clock: Clock = { ...systemClock, nextTurn: (task) => void tasks.push(task) };
  const turn = (): number => {
    const due = tasks;
    tasks = [];
    for (const task of due) task();
    return due.length;
  };
  return { clock, turn };
}

function pair() {
  const { clock, turn } = handClock();
  const [near, far] = inProcessPipePair(clock);
  const [here, there] = [new RecordingSink(), new RecordingSink()];
  return { near, far, here, there, turn };
}

const bytes = (text: string) => Buffer.from(text);

test("one later turn delivers all written bytes in pieces that fit the buffer of the reader", () => {
  const { near, far, there, turn } = pair();
  far.open(there);
  turn();
  const done: string[] = [];
  near.write([bytes("12345678"), bytes("90"), bytes("")], () => done.push("one"));
  near.write([bytes("abcdefghijklmnopqrst")], () => done.push("two"));
  expect([there.text, done]).toEqual(["", []]);
  expect(turn()).toBe(1);
  expect([there.text, done]).toEqual(["1234567890abcdefghijklmnopqrst", ["one", "two"]]);
  near.write([bytes("!")], () => {});
  expect([turn(), there.text.at(-1), turn()]).toEqual([1, "!", 0]);
});

test("bytes that are written before the other end is opened are kept and delivered later", () => {
  const { near, far, there, turn } = pair();
  let done = 0;
  near.write([bytes("early")], () => done++);
  expect([turn(), done]).toEqual([0, 0]);
  far.open(there);
  turn();
  expect([there.text, done]).toEqual(["early", 1]);
});

test("close ends both ends once, without an error, after all written bytes have arrived", () => {
  const { near, far, here, there, turn } = pair();
  near.open(here);
  far.open(there);
  turn();
  near.write([bytes("last")], () => {});
  near.close();
  near.close();
  near.destroy(new Error("too late"));
  expect(here.ends).toEqual([]);
  while (turn() > 0);
  expect([there.text, there.ends, here.ends]).toEqual(["last", ["in order"], ["in order"]]);
  far.close();
  far.destroy();
  while (turn() > 0);
  expect([there.ends, here.ends]).toEqual([["in order"], ["in order"]]);
});

test("destroy drops undelivered bytes and ends this end with its error and the other end with a reset", () => {
  const { near, far, here, there, turn } = pair();
  near.open(here);
  far.open(there);
  let done = 0;
  near.write([bytes("lost")], () => done++);
  far.write([bytes("lost too")], () => done++);
  near.destroy(new Error("enough"));
  near.destroy(new Error("again"));
  far.destroy(new Error("and again"));
  while (turn() > 0);
  expect([there.text, here.text, done]).toEqual(["", "", 2]);
  expect([here.ends, there.ends]).toEqual([["enough"], ["the connection was reset"]]);
});

test("a reader that destroys the pipe receives no more bytes, and the pending writes complete", () => {
  const { near, far, there, turn } = pair();
  far.open(there);
  turn();
  there.onBytes = () => far.destroy();
  let done = 0;
  near.write([bytes("123456789"), bytes("abc")], () => done++);
  near.write([bytes("def")], () => done++);
  while (turn() > 0);
  expect([there.text, done]).toEqual(["12345678", 2]);
});

test("a write to an ended pipe is dropped and completes in a microtask", async () => {
  const { near, far, there, turn } = pair();
  far.open(there);
  near.close();
  while (turn() > 0);
  let done = 0;
  near.write([bytes("late")], () => done++);
  expect(done).toBe(0);
  await Promise.resolve();
  expect([done, turn(), there.text]).toEqual([1, 0, ""]);
});

test("a loopback pipe returns the bytes that were written to it and ends when it is closed", () => {
  const { clock, turn } = handClock();
  const pipe = loopbackPipe(clock);
  const notes = new RecordingSink();
  pipe.open(notes);
  pipe.write([bytes("there and back")], () => {});
  while (turn() > 0);
  expect(notes.text).toBe("there and back");
  pipe.close();
  while (turn() > 0);
  expect(notes.ends).toEqual(["in order"]);
});

test("bytes that are written before a close during a delivery arrive before the end of the pipe", () => {
  const { near, far, there, turn } = pair();
  far.open(there);
  turn();
  there.onBytes = () => {
    there.onBytes = () => {};
    near.write([bytes(", and more")], () => {});
    near.close();
  };
  near.write([bytes("first")], () => {});
  while (turn() > 0);
  expect([there.text, there.ends]).toEqual(["first, and more", ["in order"]]);
});

test("deliverBytes passes bytes to a sink in pieces that fit the buffer of the sink", () => {
  const notes = new RecordingSink();
  deliverBytes(bytes("1234567890"), notes);
  expect(notes.text).toBe("1234567890");
});
