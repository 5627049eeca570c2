/** The items of a `map` as they are taken from iterables, whatever these do. */
import { beforeEach, describe, expect, test } from "vitest";
import { ItemSource } from "../../../../runtime/actor/call/map/item-source.js";
import type { MapItems } from "../../../../runtime/actor/call/map/map-options.js";
import { settled } from "../../parts.js";

let told: unknown[];

beforeEach(() => {
  told = [];
});

const sourceOf = (items: MapItems<unknown>): ItemSource =>
  new ItemSource("actors.endpoint", items, {
    itemsReady: () => told.push("ready"),
    itemsFailed: (error) => told.push(error),
  });

/** An asynchronous iterable whose reads end when the test says so. */
class ControlledItems implements AsyncIterableIterator<unknown> {
  reads: { resolve: (result: IteratorResult<unknown>) => void; reject: (error: unknown) => void }[] = [];
  closed = 0;

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => this.reads.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.closed++;
    return { done: true, value: undefined };
  }
}

describe("an asynchronous source", () => {
  test("is read once at a time, and its item is announced and taken once", async () => {
    const items = new ControlledItems();
    const source = sourceOf(items);
    expect([source.take(), source.take(), items.reads.length]).toEqual([undefined, undefined, 1]);
    items.reads[0]!.resolve({ done: false, value: 7 });
    await settled();
    expect(told).toEqual(["ready"]);
    expect([source.take(), source.take()]).toEqual([{ item: 7 }, undefined]);
    expect([items.reads.length, source.isAtEnd]).toEqual([2, false]);
    items.reads[1]!.resolve({ done: true, value: undefined });
    await settled();
    expect([told, source.isAtEnd, source.take()]).toEqual([["ready", "ready"], true, undefined]);
    expect(items.reads).toHaveLength(2);
  });

  test("announces nothing after it was closed", async () => {
    for (const finish of [
      ({ reads }: ControlledItems) => reads[0]!.resolve({ done: false, value: 7 }),
      ({ reads }: ControlledItems) => reads[0]!.reject(new Error("late")),
    ]) {
      const items = new ControlledItems();
      const source = sourceOf(items);
      source.take();
      source.close();
      finish(items);
      await settled();
      expect([told, source.take(), items.closed]).toEqual([[], undefined, 1]);
    }
  });

  test("that fails is at its end, and is not closed", async () => {
    const items = new ControlledItems();
    const source = sourceOf(items);
    source.take();
    const gone = new Error("the disk is gone");
    items.reads[0]!.reject(gone);
    await settled();
    expect([told, source.isAtEnd, source.take()]).toEqual([[gone], true, undefined]);
    source.close();
    expect([items.closed, items.reads.length]).toEqual([0, 1]);
  });
});

describe("closing a source", () => {
  test("closes its iterator once, and not at all after its end", () => {
    let closed = 0;
    const closing = (count: number): Iterable<number> => {
      const numbers = Array.from({ length: count }, (_, index) => index)[Symbol.iterator]();
      const iterator = { next: () => numbers.next(), return: () => ({ done: true as const, value: ++closed }) };
      return { [Symbol.iterator]: () => iterator };
    };
    const left = sourceOf(closing(2));
    left.take();
    left.close();
    left.close();
    expect([closed, left.isAtEnd, left.take()]).toEqual([1, true, undefined]);
    const finished = sourceOf(closing(1));
    expect([finished.take(), finished.take(), finished.isAtEnd]).toEqual([{ item: 0 }, undefined, true]);
    finished.close();
    expect(closed).toBe(1);
  });

  test("works for an iterator without a return method, and hides errors of one that has it", async () => {
    const plain = sourceOf({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) });
    plain.close();
    expect([plain.isAtEnd, plain.take()]).toEqual([true, undefined]);
    const refuse = () => {
      throw new Error("cannot be closed");
    };
    for (const close of [refuse, async () => refuse()]) {
      const items = { next: () => ({ done: false, value: 1 }), return: close as never };
      const source = sourceOf({ [Symbol.iterator]: () => items });
      source.close();
      await settled();
      expect(source.isAtEnd).toBe(true);
    }
    expect(told).toEqual([]);
  });
});
