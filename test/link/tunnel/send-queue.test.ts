/** Tests of when the memory of writes to a channel may be used again. */
import { expect, test } from "vitest";
import { MAX_TUNNEL_BODY } from "../../../runtime/link/tunnel/frame.js";
import { SendQueue } from "../../../runtime/link/tunnel/send-queue.js";

/** A queue with a write of some sizes, and what was called. */
function queueOf(...writes: readonly (readonly number[])[]) {
  const queue = new SendQueue();
  const done: number[] = [];
  writes.forEach((sizes, index) => {
    const chunks = sizes.map((size) => new Uint8Array(size).fill(index + 1));
    queue.add(
      chunks,
      sizes.reduce((sum, size) => sum + size, 0),
      () => done.push(index),
    );
  });
  queue.addCredit(10 * MAX_TUNNEL_BODY);
  const take = () => {
    const [chunks, dones]: [Uint8Array[], (() => void)[]] = [[], []];
    const size = queue.takeFrame(1, chunks, dones);
    return { size, sent: () => callAll(dones) };
  };
  return { queue, done, take };
}

function callAll(calls: readonly (() => void)[]): void {
  for (const call of calls) call();
}

test("writes of one frame are done when the frame was sent", () => {
  const { done, take } = queueOf([10, 0, 20], [5]);
  const frame = take();
  expect(frame.size).toBe(35);
  expect(done).toEqual([]);
  frame.sent();
  expect(done).toEqual([0, 1]);
});

test("a write of several frames is done when all of them were sent, in any order", () => {
  for (const isReversed of [false, true]) {
    const { done, take } = queueOf([MAX_TUNNEL_BODY, MAX_TUNNEL_BODY], [1]);
    const frames = [take(), take(), take()];
    expect(frames.map(({ size }) => size)).toEqual([MAX_TUNNEL_BODY, MAX_TUNNEL_BODY, 1]);
    const [first, second, third] = frames;
    (isReversed ? second! : first!).sent();
    expect(done).toEqual([]);
    (isReversed ? first! : second!).sent();
    expect(done).toEqual([0]);
    third!.sent();
    expect(done).toEqual([0, 1]);
  }
});

test("a write is not done while the connection sends a piece of it, also if the channel ends", () => {
  const { queue, done, take } = queueOf([2 * MAX_TUNNEL_BODY], [1]);
  const frame = take();
  callAll(queue.clear());
  // Only the second write has no piece on its way.
  expect(done).toEqual([1]);
  frame.sent();
  expect(done).toEqual([1, 0]);
});

test("a write whose first piece was sent is done with the channel", () => {
  const { queue, done, take } = queueOf([2 * MAX_TUNNEL_BODY]);
  take().sent();
  expect(done).toEqual([]);
  callAll(queue.clear());
  expect(done).toEqual([0]);
});
