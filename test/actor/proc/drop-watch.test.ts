/** These tests check when the garbage collector is started, and how collected values are reported. */
import v8 from "node:v8";
import vm from "node:vm";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { DropWatch } from "../../../runtime/actor/proc/drop-watch.js";
import { ManualClock } from "../../link/resumable/cut-world.js";

v8.setFlagsFromString("--expose-gc");
const collectReally = vm.runInNewContext("gc") as () => void;

let clock: ManualClock;
let watch: DropWatch;
/** The times of the collections, and the duration of each collection in milliseconds. */
let collections: number[];
let duration: number;
let heap: number;

// The watch looks the collector up once, and keeps it.
vi.spyOn(vm, "runInNewContext").mockReturnValue(() => {
  collections.push(clock.now());
  clock.sleep(duration);
});
vi.spyOn(v8, "getHeapStatistics").mockImplementation(() => ({ used_heap_size: heap }) as v8.HeapInfo);
afterAll(() => {
  vi.restoreAllMocks();
});

beforeEach(() => {
  clock = new ManualClock();
  watch = new DropWatch(clock);
  collections = [];
  duration = 2;
  heap = 20 * 1024 * 1024;
});

describe("the garbage collector", () => {
  test("runs after 100 ms plus 10 ms per MiB of heap, then at intervals that grow tenfold", () => {
    watch.suspectDropped({});
    clock.pass(20_000);
    expect(collections).toEqual([300, 1502, 11_704]);
  });

  test("runs sooner if the heap is small", () => {
    heap = 0;
    watch.suspectDropped({});
    clock.pass(1000);
    expect(collections).toEqual([100]);
  });

  test("runs for at most a fiftieth of the time", () => {
    duration = 20;
    watch.suspectDropped({});
    clock.pass(300);
    watch.suspectDropped({});
    clock.pass(1100);
    expect(collections).toEqual([300, 1320]);
  });

  test("runs once for all suspected values, with one timer", () => {
    watch.suspectDropped({});
    watch.suspectDropped({});
    expect(clock.waiting).toBe(1);
    clock.pass(300);
    expect(collections).toEqual([300]);
    expect(clock.waiting).toBe(1);
  });

  test("does not run once no value is suspected any more", () => {
    const held = { dropped() {} };
    watch.watch({}, held);
    watch.suspectDropped(held);
    watch.unwatch(held);
    clock.pass(1000);
    expect(collections).toEqual([]);
    expect(clock.waiting).toBe(0);
  });
});

describe("a value that nothing refers to any more", () => {
  /** Collects garbage until `done` returns true, but at most ten times. */
  const collected = async (done: () => boolean): Promise<void> => {
    for (let i = 0; i < 10 && !done(); i++) {
      await new Promise((resolve) => setImmediate(resolve));
      collectReally();
    }
    await new Promise((resolve) => setImmediate(resolve));
  };
  let dropped: string[];
  const held = (name: string) => ({ dropped: () => dropped.push(name) });
  beforeEach(() => {
    dropped = [];
  });

  test("is reported to the object that watches it", async () => {
    watch.watch({}, held("watched"));
    await collected(() => dropped.length > 0);
    expect(dropped).toEqual(["watched"]);
  });

  test("is not reported to an object that no longer watches it", async () => {
    const former = held("former");
    watch.watch({}, former);
    watch.unwatch(former);
    watch.watch({}, held("watched"));
    await collected(() => dropped.length > 0);
    expect(dropped).toEqual(["watched"]);
  });

  test("is gone from its weak reference, while a value in use is still there", async () => {
    const kept = {};
    const references = [watch.reference({}), watch.reference(kept)];
    await collected(() => references[0]!.deref() === undefined);
    expect(references.map((reference) => reference.deref())).toEqual([undefined, kept]);
  });
});
