/**
 * Checks the protocols of readers, writers and a revoking owner in every interleaving of their atomic steps, each of
 * which reads or writes one word or byte. The steps are in the order of native/rdma. With a wrong order, the same check
 * must find the error.
 */
import { expect, test } from "vitest";

interface World {
  live: boolean;
  /** Whether a writer has taken its cell. */
  writing: boolean;
  /** The use to which each byte belongs. The memory is reused after the grant has ended. */
  readonly bytes: ("granted" | "foreign" | "written")[];
}

/** Does a step, and returns whether the step was possible. An impossible step is tried again later. */
type Step<S> = (world: World, own: S) => boolean;

const cells = 3;

/**
 * Runs both step lists in every interleaving.
 * @returns the number of interleavings, and of those that end with `wrong`
 */
function everyOrder<A, B>(
  first: readonly Step<A>[],
  second: readonly Step<B>[],
  make: () => readonly [A, B],
  wrong: (world: World, a: A, b: B) => boolean,
): { readonly orders: number; readonly wrong: number } {
  let orders = 0;
  let bad = 0;
  const run = (order: readonly boolean[]): "done" | "blocked" | "more" => {
    const world: World = { live: true, writing: false, bytes: Array.from({ length: cells }, () => "granted" as const) };
    const [a, b] = make();
    let i = 0;
    let j = 0;
    for (const isFirst of order) {
      const done = isFirst ? first[i]!(world, a) : second[j]!(world, b);
      if (!done) return "blocked";
      if (isFirst) i++;
      else j++;
    }
    if (i < first.length || j < second.length) return "more";
    orders++;
    if (wrong(world, a, b)) bad++;
    return "done";
  };
  const explore = (order: readonly boolean[], i: number, j: number): void => {
    const state = run(order);
    if (state !== "more") return;
    if (i < first.length) explore([...order, true], i + 1, j);
    if (j < second.length) explore([...order, false], i, j + 1);
  };
  explore([], 0, 0);
  return { orders, wrong: bad };
}

interface Reader {
  before: boolean;
  after: boolean;
  readonly seen: string[];
}

const look = (which: "before" | "after"): Step<Reader> => {
  return (world, own) => {
    own[which] = world.live;
    return true;
  };
};
const copy: readonly Step<Reader>[] = Array.from({ length: cells }, (_, at) => (world: World, own: Reader) => {
  own.seen.push(world.bytes[at]!);
  return true;
});
const takeBack: Step<unknown> = (world) => {
  world.live = false;
  return true;
};
const useAgain: readonly Step<unknown>[] = Array.from({ length: cells }, (_, at) => (world: World) => {
  world.bytes[at] = "foreign";
  return true;
});

const makeReader = () => [{ before: true, after: true, seen: [] as string[] }, {}] as const;
const sawForeign = (_: World, { before, after, seen }: Reader) => before && after && seen.includes("foreign");

test("a read between two checks of the head never returns bytes of a later use of the memory", () => {
  const reader = [look("before"), ...copy, look("after")];
  expect(everyOrder(reader, [takeBack, ...useAgain], makeReader, sawForeign)).toEqual({ orders: 126, wrong: 0 });
});

test("without the second check, or with a late revocation, the same check finds foreign bytes", () => {
  const once = everyOrder([look("before"), ...copy], [takeBack, ...useAgain], makeReader, sawForeign);
  expect(once.wrong).toBeGreaterThan(0);
  const late = everyOrder([look("before"), ...copy, look("after")], [...useAgain, takeBack], makeReader, sawForeign);
  expect(late.wrong).toBeGreaterThan(0);
});

interface Writer {
  allowed: boolean;
}

const claim: Step<Writer> = (world) => {
  world.writing = true;
  return true;
};
const check: Step<Writer> = (world, own) => {
  own.allowed = world.live;
  return true;
};
const put: readonly Step<Writer>[] = Array.from({ length: cells }, (_, at) => (world: World, own: Writer) => {
  if (own.allowed) world.bytes[at] = "written";
  return true;
});
const release: Step<Writer> = (world) => {
  world.writing = false;
  return true;
};
const waitForWriters: Step<unknown> = (world) => !world.writing;

const makeWriter = () => [{ allowed: false }, {}] as const;
const wroteForeign = ({ bytes }: World) => bytes.some((byte) => byte !== "foreign");
const owner = [takeBack, waitForWriters, ...useAgain];

test("a write that takes a cell before the check never overwrites a later use of the memory", () => {
  const { orders, wrong } = everyOrder([claim, check, ...put, release], owner, makeWriter, wroteForeign);
  expect(orders).toBeGreaterThan(5);
  expect(wrong).toBe(0);
});

test("with the check before the cell, or an owner that does not wait, the same check finds overwritten bytes", () => {
  expect(everyOrder([check, claim, ...put, release], owner, makeWriter, wroteForeign).wrong).toBeGreaterThan(0);
  const hasty = [takeBack, ...useAgain];
  expect(everyOrder([claim, check, ...put, release], hasty, makeWriter, wroteForeign).wrong).toBeGreaterThan(0);
});
