/** Owners send readers of a value to places that have it. */
import { describe, expect, test } from "vitest";
import { Copies } from "../../../runtime/tasks/objects/copies.js";

function copiesOf(ended: ReadonlySet<number> = new Set()) {
  const freed: number[] = [];
  const copies = new Copies<number>({
    keyOf: BigInt,
    free: (store) => void freed.push(store),
    hasEnded: (store) => ended.has(store),
  });
  const choose = (reader: number | undefined, ownerHas = true) => {
    const place = copies.choose(reader, ownerHas);
    return typeof place === "object" ? place.store : place;
  };
  return { copies, freed, choose };
}

describe("readers of a value", () => {
  test("read one from the other while the value is on its way, so that each host sends it once", () => {
    const { choose } = copiesOf();
    expect([1, 2, 3, 4, 5].map((reader) => choose(reader))).toEqual(["owner", 1, 2, 3, 4]);
  });

  test("are sent to other hosts before the owner, if both have as many readers", () => {
    const { copies, choose } = copiesOf();
    choose(1);
    copies.complete(1);
    expect([2, 3, 4].map((reader) => choose(reader))).toEqual([1, 2, 3]);
  });

  test("are sent to another place when they have failed, and come back only if there is no other", () => {
    const { copies, choose } = copiesOf();
    choose(1);
    expect(choose(2)).toBe(1);
    copies.failed(1);
    expect(choose(2)).toBe("owner");
    copies.failed(1);
    copies.complete(1);
    expect(choose(2, false)).toBe(1);
  });

  test("never read what others read from them", () => {
    const { copies, choose } = copiesOf();
    expect([1, 2, 3].map((reader) => choose(reader))).toEqual(["owner", 1, 2]);
    // The owner does not have it any more, and all others would read in a circle.
    copies.failed(1);
    expect(choose(1, false)).toBe(undefined);
  });

  test("are sent to no host that has ended", () => {
    const ended = new Set<number>();
    const { copies, choose } = copiesOf(ended);
    copies.complete(1);
    copies.complete(2);
    ended.add(1);
    expect(choose(3, false)).toBe(2);
    ended.add(2);
    expect(choose(3, false)).toBe(undefined);
  });

  test("a host that has the value meanwhile reads its own", () => {
    const { copies, choose } = copiesOf();
    choose(1);
    copies.complete(1);
    expect(choose(1, false)).toBe(1);
  });

  test("processes that read for themselves are not counted", () => {
    const { copies, choose } = copiesOf();
    copies.complete(1);
    expect([undefined, undefined].map((reader) => choose(reader, false))).toEqual([1, 1]);
  });
});

test("all copies are freed once", () => {
  const { copies, freed, choose } = copiesOf();
  copies.complete(1);
  choose(2);
  copies.drop();
  copies.drop();
  expect(freed).toEqual([1, 2]);
});
