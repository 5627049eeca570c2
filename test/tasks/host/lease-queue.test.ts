/** Tests of the queue of a host: random requests against a simple model, planted bugs, and single decisions. */
import { describe, expect, test } from "vitest";
import { Capacity } from "../../../runtime/tasks/host/capacity.js";
import { LeaseQueue, type QueueRequest } from "../../../runtime/tasks/host/lease-queue.js";
import { amountsOf } from "../../../runtime/tasks/host/resources.js";
import { Room } from "../../../runtime/tasks/host/room.js";
import { type Random, randomNumbers, withRandom } from "../../random.js";
import { call, type Replacement, repeatEvery, replaceMethod, skipEvery } from "../../testing/plant-bug.js";
import { BrokenPromise, type Promised, runEndlessHolders, runRandomSteps } from "./queue-run.js";

describe("a queue with random requests", () => {
  test("keeps its promises", async () => {
    for (let i = 0; i < 400; i++) await withRandom((random) => runRandomSteps(random));
  });

  test("grants every request at last, also if others have tasks without end", async () => {
    for (let i = 0; i < 400; i++) await withRandom((random) => runEndlessHolders(random));
  });
});

const bugs: readonly { readonly bug: string; readonly plant: Replacement; readonly breaks: readonly Promised[] }[] = [
  { bug: "what a lease had is lost", plant: skipEvery(Room, "give", 5), breaks: ["sums are exact"] },
  { bug: "what a lease had is freed twice", plant: repeatEvery(Room, "give", 5), breaks: ["sums are exact"] },
  {
    bug: "what is granted is not taken",
    plant: skipEvery(Capacity, "retake", 7),
    breaks: ["no more than there is is granted", "no GPU is granted twice", "sums are exact"],
  },
  {
    bug: "a request is granted that does not fit",
    plant: replaceMethod(
      Capacity,
      "fits",
      (original, every) =>
        function (this: Capacity, ...args: unknown[]) {
          return every(9) || call(original, this, args);
        } as never,
    ),
    breaks: ["no more than there is is granted", "no GPU is granted twice"],
  },
  {
    bug: "a request that was withdrawn is granted",
    plant: replaceMethod(
      LeaseQueue,
      "withdraw",
      (original, every) =>
        function (this: LeaseQueue, ...args: unknown[]) {
          return every(3) || call(original, this, args);
        } as never,
    ),
    breaks: ["only what waits is granted, once"],
  },
  {
    bug: "a big request is overtaken for ever",
    plant: skipEvery(Room, "claim", 1),
    breaks: ["every request is granted at last"],
  },
  {
    bug: "nobody is asked to give way to a request",
    plant: replaceMethod(Room, "lacks", () => () => [] as never),
    breaks: ["every request is granted at last"],
  },
];

describe("the properties find a planted bug", () => {
  test.each(bugs)("$bug", ({ plant: { plant }, breaks }) => {
    const unplant = plant();
    const found = new Set<string>();
    try {
      for (let seed = 1; seed <= 400 && !breaks.some((promised) => found.has(promised)); seed++) {
        for (const run of [runRandomSteps, runEndlessHolders]) {
          const numbers = randomNumbers(seed);
          const random: Random = (below) => Math.floor(numbers() * below);
          try {
            run(random);
          } catch (error) {
            found.add(error instanceof BrokenPromise ? error.promised : String(error));
          }
        }
      }
    } finally {
      unplant();
    }
    expect([...found].filter((promised) => (breaks as readonly string[]).includes(promised))).not.toEqual([]);
  });
});

describe("a queue", () => {
  const queueOf = (total: Record<string, number>, workers = 4) =>
    new LeaseQueue({ total: amountsOf(total), workers, patience: 100 });
  let lastId = 0;
  const request = (amounts: Record<string, number>, rest: Partial<QueueRequest> = {}): QueueRequest => ({
    ...{ id: ++lastId, kind: "a", place: "", usesWorker: true, isLasting: false },
    ...rest,
    amounts: amountsOf(amounts),
  });
  const granted = (queue: LeaseQueue, now: number) => queue.decide(now).granted.map(({ request: { id } }) => id);

  test("lets small requests overtake a big one until its patience has ended", () => {
    const queue = queueOf({ cpus: 2 });
    const [first, big, small, later] = [{ cpus: 1 }, { cpus: 2 }, { cpus: 1 }, { cpus: 1 }].map((one) => request(one));
    queue.add(first!, 0);
    queue.add(big!, 0);
    queue.add(small!, 0);
    expect(granted(queue, 50)).toEqual([first!.id, small!.id]);
    queue.release(small!.id);
    queue.add(later!, 99);
    expect(granted(queue, 100)).toEqual([]);
    queue.release(first!.id);
    expect(granted(queue, 101)).toEqual([big!.id]);
  });

  test("keeps nothing for a request that waits for an actor, which may never end", () => {
    const queue = queueOf({ cpus: 2, gpus: 1 });
    const actor = request({ gpus: 1 }, { isLasting: true, usesWorker: false });
    const blocked = request({ cpus: 2, gpus: 1 });
    const small = request({ cpus: 1 });
    for (const one of [actor, blocked, small]) queue.add(one, 0);
    expect(granted(queue, 1000)).toEqual([actor.id, small.id]);
    queue.release(actor.id);
    const next = request({ cpus: 1 });
    queue.add(next, 1000);
    expect(granted(queue, 1001)).toEqual([]);
    queue.release(small.id);
    expect(granted(queue, 1002)).toEqual([blocked.id]);
  });

  test("asks for the leases that were held longest, and for no more than are needed", () => {
    const queue = queueOf({ cpus: 3 });
    const leases = [1, 1, 1].map((cpus) => request({ cpus }));
    for (const one of leases) queue.add(one, 0);
    expect(queue.decide(0).wanted).toEqual([]);
    queue.add(request({ cpus: 1 }, { kind: "b" }), 1);
    expect(queue.decide(1).wanted).toEqual([leases[0]!.id]);
    expect(queue.decide(2).wanted).toEqual([]);
    queue.add(request({ cpus: 1 }, { kind: "c" }), 3);
    expect(queue.decide(3).wanted).toEqual([leases[1]!.id]);
  });

  test("does not ask a holder to give way to its own requests", () => {
    const queue = queueOf({ cpus: 1 });
    for (const one of [request({ cpus: 1 }), request({ cpus: 1 })]) queue.add(one, 0);
    expect(queue.decide(0).wanted).toEqual([]);
  });

  test("counts fractions exactly", () => {
    const queue = queueOf({ cpus: 1 }, 100);
    const tenths = Array.from({ length: 11 }, () => request({ cpus: 0.1 }));
    for (const one of tenths) queue.add(one, 0);
    expect(granted(queue, 0)).toHaveLength(10);
    expect(queue.free.get("cpus")).toBe(0);
    for (const one of tenths) queue.release(one.id);
    expect(queue.free.get("cpus")).toBe(10_000);
  });

  test("lets a bundle use its own resources only", () => {
    const queue = queueOf({ cpus: 4, gpus: 2 });
    const bundle = request({ cpus: 2, gpus: 1 }, { isLasting: true, usesWorker: false });
    queue.add(bundle, 0);
    const { share } = queue.decide(0).granted[0]!;
    queue.open("1/0", share);
    expect(queue.neverHas(request({ cpus: 3 }, { place: "1/0" }))).toEqual(["cpus"]);
    const inside = [request({ gpus: 0.5 }, { place: "1/0" }), request({ gpus: 0.5 }, { place: "1/0" })];
    for (const one of inside) queue.add(one, 0);
    const grants = queue.decide(0).granted;
    expect(grants.map(({ share: { gpus } }) => gpus)).toEqual([[0], [0]]);
    const outside = request({ gpus: 1 });
    queue.add(outside, 0);
    expect(queue.decide(0).granted[0]!.share.gpus).toEqual([1]);
  });
});
