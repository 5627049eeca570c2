/** When the garbage collector is asked to come by, and what is said of values that it has taken. */
import v8 from "node:v8";
import vm from "node:vm";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { DropWatch } from "../../../runtime/actor/proc/drop-watch.js";
import { ManualClock } from "../../link/resumable/cut-world.js";

v8.setFlagsFromString("--expose-gc");
const collectReally = vm.runInNewContext("gc") as () => void;

let clock: ManualClock;
let watch: DropWatch;
/** The times at which the collector was asked, and how many milliseconds each collection takes. */
let collections: number[];
let duration: number;
let heap: number;

// The watch asks for the collector once, and keeps it.
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

describe("the collector is asked", () => {
  test("after a tenth of a second and ten milliseconds for each MiB of the heap, then ten times later each time", () => {
    watch.suspectDropped({});
    clock.pass(20_000);
    expect(collections).toEqual([300, 1502, 11_704]);
  });

  test("sooner where the heap is small", () => {
    heap = 0;
    watch.suspectDropped({});
    clock.pass(1000);
    expect(collections).toEqual([100]);
  });

  test("for no more than a fiftieth of the time", () => {
    duration = 20;
    watch.suspectDropped({});
    clock.pass(300);
    watch.suspectDropped({});
    clock.pass(1100);
    expect(collections).toEqual([300, 1320]);
  });

  test("by one timer for all that are suspected", () => {
    watch.suspectDropped({});
    watch.suspectDropped({});
    expect(clock.waiting).toBe(1);
    clock.pass(300);
    expect(collections).toEqual([300]);
    expect(clock.waiting).toBe(1);
  });

  test("no more once nothing is suspected", () => {
    const held = { dropped() {} };
    watch.watch({}, held);
    watch.suspectDropped(held);
    watch.unwatch(held);
    clock.pass(1000);
    expect(collections).toEqual([]);
    expect(clock.waiting).toBe(0);
  });
});

describe("of a value that nobody has any more", () => {
  /** Waits until `done`, or for as many collections as it takes to believe that it will not be. */
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

  test("those are told who watch it", async () => {
    watch.watch({}, held("watched"));
    await collected(() => dropped.length > 0);
    expect(dropped).toEqual(["watched"]);
  });

  test("nobody is told who watches it no more", async () => {
    const former = held("former");
    watch.watch({}, former);
    watch.unwatch(former);
    watch.watch({}, held("watched"));
    await collected(() => dropped.length > 0);
    expect(dropped).toEqual(["watched"]);
  });

  test("a reference leads nowhere, and to one that somebody has it leads", async () => {
    const kept = {};
    const references = [watch.reference({}), watch.reference(kept)];
    await collected(() => references[0]!.deref() === undefined);
    expect(references.map((reference) => reference.deref())).toEqual([undefined, kept]);
  });
});
