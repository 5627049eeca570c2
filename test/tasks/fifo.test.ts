/** The queue of tasks that wait for a worker process. */
import { expect, test } from "vitest";
import { Fifo } from "../../runtime/tasks/submit/fifo.js";

const isLess = (first: number, second: number) => first < second;

function filled(count: number): Fifo<number> {
  const fifo = new Fifo<number>();
  for (let n = 0; n < count; n++) fifo.push(n);
  return fifo;
}

const taken = (fifo: Fifo<number>, count: number) => Array.from({ length: count }, () => fifo.shift());

test.each([
  ["first to last", [0, 1, 2, 3]],
  ["last to first", [3, 2, 1, 0]],
  ["in any order", [2, 0, 3, 1]],
])("items that are put back %s are taken in their order again", (_, order) => {
  for (const count of [4, 10, 5000]) {
    const fifo = filled(count);
    taken(fifo, 4);
    for (const item of order) fifo.putBack(item, isLess);
    expect(fifo.length).toBe(count);
    expect(taken(fifo, count)).toEqual([...Array(count).keys()]);
    expect(fifo.shift()).toBeUndefined();
  }
});

test("an item can be put back into a queue from which none was taken", () => {
  const fifo = filled(3);
  fifo.putBack(-1, isLess);
  fifo.putBack(1.5, isLess);
  expect(fifo.takeAll()).toEqual([-1, 0, 1, 1.5, 2]);
});

test("many items can be put back after the queue has given its memory back", () => {
  const fifo = filled(5000);
  const items = taken(fifo, 4000);
  for (const item of items) fifo.putBack(item!, isLess);
  expect(fifo.takeAll()).toEqual([...Array(5000).keys()]);
});
