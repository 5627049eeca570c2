/** Tests of the limits of memory and disk, with several stores as if they were in several processes. They need the addon. */
import { mkdtempSync, openSync, readdirSync, readlinkSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { canSealMemory } from "../../../runtime/link/transport/shared-memory/sealed-memory.js";
import { ObjectStoreFullError } from "../../../runtime/tasks/errors.js";
import { usageOf } from "../../../runtime/tasks/objects/context-objects.js";
import { ObjectStore } from "../../../runtime/tasks/objects/object-store.js";
import { spilledSize } from "../../../runtime/tasks/objects/spill-file.js";
import { StoredValue } from "../../../runtime/tasks/objects/stored-value.js";
import { MAX_SLOTS, UsageRecord } from "../../../runtime/tasks/objects/usage-record.js";

const context = "0123456789abcdef";
const unit = 2 ** 16;

/** The time, which passes when a store waits. */
let now = 0;
let whileWaiting = () => {};
const clock = {
  now: () => now,
  block: (milliseconds: number) => {
    now += milliseconds;
    whileWaiting();
  },
};

let folder: string;
let values: StoredValue[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "object-store-"));
});
afterEach(() => {
  for (const value of values) value.close();
  values = [];
  whileWaiting = () => {};
  rmSync(folder, { recursive: true });
});

function recordOf(memory: number, disk: number): UsageRecord {
  return UsageRecord.make(context, { memory, disk });
}

function storeOf(record: UsageRecord, whenFull: "wait" | "fail" = "fail"): ObjectStore {
  return new ObjectStore({ limits: { folder, whenFull }, record, slot: record.slot(record.take()!), clock });
}

function put(store: ObjectStore, bytes: Uint8Array, isResult = false): StoredValue {
  const value = new StoredValue(store.put([bytes], isResult)!);
  values.push(value);
  return value;
}

const filled = (units: number, byte: number) => new Uint8Array(units * unit).fill(byte);
const isFilled = (value: StoredValue, units: number, byte: number) =>
  Buffer.compare(value.bytes(), filled(units, byte)) === 0;
const isOnDisk = (value: StoredValue) => value.memory!.disk === true;

describe.skipIf(!canSealMemory())("a store of large values", () => {
  test("moves the least recently used values to disk", () => {
    const store = storeOf(recordOf(3 * unit, 100 * unit));
    const made = [1, 2, 3].map((byte) => put(store, filled(1, byte)));
    expect(made[0]!.head[0]).toBe(1);
    made.push(put(store, filled(1, 4)));
    expect(made.map(isOnDisk)).toEqual([false, true, false, false]);
    made.push(put(store, filled(2, 5)));
    expect(made.map(isOnDisk)).toEqual([true, true, true, false, false]);
    expect(store.record.total).toEqual({
      memory: 3 * unit,
      disk: 3 * spilledSize(unit),
      values: 5,
      spilled: 3,
      processes: 1,
    });
    expect(made.every((value, i) => isFilled(value, i === 4 ? 2 : 1, i + 1))).toBe(true);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("brings a value back to memory that is free, and takes memory from others for what is read again", () => {
    const store = storeOf(recordOf(2 * unit, 100 * unit));
    const made = [1, 2, 3].map((byte) => put(store, filled(1, byte)));
    expect(made.map(isOnDisk)).toEqual([true, false, false]);
    expect(made[0]!.head[0]).toBe(1);
    expect(made.map(isOnDisk)).toEqual([true, false, false]);
    expect(made[0]!.head[0]).toBe(1);
    expect(made.map(isOnDisk)).toEqual([false, true, false]);
    made[2]!.close();
    expect(made[1]!.head[0]).toBe(2);
    expect(isOnDisk(made[1]!)).toBe(false);
    expect(store.record.total).toMatchObject({ memory: 2 * unit, disk: 0, values: 2, spilled: 0 });
  });

  test("leaves in memory what is mapped", () => {
    const store = storeOf(recordOf(2 * unit, 100 * unit));
    const first = put(store, filled(1, 1));
    const mapped = first.bytes();
    const second = put(store, filled(1, 2));
    const third = put(store, filled(1, 3));
    expect([first, second, third].map(isOnDisk)).toEqual([false, true, false]);
    expect(mapped[0]).toBe(1);
  });

  test("leaves in memory what another process has open, and results until their receiver has them", () => {
    const record = recordOf(2 * unit, 100 * unit);
    const [worker, driver] = [storeOf(record), storeOf(record)];
    const result = put(worker, filled(1, 1), true);
    const other = put(worker, filled(1, 2));
    put(worker, filled(1, 3));
    expect([result, other].map(isOnDisk)).toEqual([false, true]);
    const received = StoredValue.open(result.memory!, driver)!;
    values.push(received);
    received.count();
    expect(record.memory).toBe(3 * unit);
    put(worker, filled(1, 4));
    // It counts for its receiver now, and the value of the worker made room.
    expect(record.memory).toBe(2 * unit);
    result.close();
    expect(isFilled(received, 1, 1)).toBe(true);
    expect(record.total).toMatchObject({ memory: 2 * unit, values: 4, spilled: 2, processes: 2 });
  });

  test("writes a value to disk itself if others use all of the memory", () => {
    const record = recordOf(2 * unit, 100 * unit);
    const [one, other] = [storeOf(record), storeOf(record)];
    const before = put(one, filled(2, 1));
    const value = put(other, filled(1, 2), true);
    expect([before, value].map(isOnDisk)).toEqual([false, true]);
    const received = StoredValue.open(value.memory!, one)!;
    values.push(received);
    received.count();
    value.close();
    expect(isFilled(received, 1, 2)).toBe(true);
    expect(record.total).toMatchObject({ memory: 2 * unit, disk: spilledSize(unit), values: 2, spilled: 1 });
  });

  test("refuses a value when there is room for it nowhere, and keeps the others", () => {
    const store = storeOf(recordOf(2 * unit, spilledSize(unit)), "wait");
    const made = [1, 2, 3].map((byte) => put(store, filled(1, byte)));
    const begin = now;
    expect(() => put(store, filled(1, 4))).toThrow(
      new ObjectStoreFullError(
        `cannot store a value of 64 KiB: there is no room for it: the values of this process use 128 KiB of the 128 KiB of memory and ` +
          `64 KiB of the 64 KiB on disk in ${folder}; release values that are not needed any more, or raise objects.memory or ` +
          "objects.disk of JobContext.open",
      ),
    );
    // No other process has values, so that waiting would be of no use.
    expect(now).toBe(begin);
    expect(made.every((value, i) => isFilled(value, 1, i + 1))).toBe(true);
    made[0]!.close();
    expect(isFilled(put(store, filled(1, 5)), 1, 5)).toBe(true);
    expect(() => put(store, filled(3, 6))).toThrow(
      "cannot store a value of 192 KiB: it is larger than both limits: the values of",
    );
    expect(isFilled(made[1]!, 1, 2)).toBe(true);
  });

  test("waits while others have values, and gives up after the time limit", () => {
    const record = recordOf(2 * unit, 0);
    const [waiting, other] = [storeOf(record, "wait"), storeOf(record)];
    const [first] = [put(other, filled(1, 1)), put(other, filled(1, 2))];
    const begin = now;
    expect(() => put(waiting, filled(1, 3))).toThrow("the values of 1 process use 128 KiB of the 128 KiB of memory");
    expect(now - begin).toBeGreaterThanOrEqual(5000);
    const end = now + 1000;
    whileWaiting = () => {
      if (now >= end) first!.close();
    };
    expect(isFilled(put(waiting, filled(1, 3)), 1, 3)).toBe(true);
    expect(now - end).toBeLessThan(100);
    expect(() => put(other, filled(1, 4))).toThrow(ObjectStoreFullError);
  });

  test("shares its record with processes of the context, and with nobody else", () => {
    const record = recordOf(2 * unit, 3 * unit);
    const other = UsageRecord.open(record.path!, context)!;
    expect(other.limits).toEqual({ memory: 2 * unit, disk: 3 * unit });
    expect(other.path).toBeUndefined();
    put(storeOf(record), filled(1, 1));
    expect(usageOf(other)).toEqual({
      ...{ memory: unit, memoryLimit: 2 * unit, disk: 0, diskLimit: 3 * unit },
      ...{ values: 1, spilled: 0 },
    });
    const slots = new Set<number | undefined>(Array.from({ length: MAX_SLOTS }, () => record.take()));
    expect([slots.size, slots.has(undefined), record.take()]).toEqual([MAX_SLOTS, true, undefined]);
    record.free(7);
    expect(record.take()).toBe(7);
    const value = put(storeOf(recordOf(unit * 10, 0)), filled(1, 1)).memory!;
    const wrong = ["/dev/null", "/nowhere", `/proc/self/fd/${value.file}`];
    for (const path of wrong) expect(UsageRecord.open(path, context)).toBeUndefined();
    expect(UsageRecord.open(record.path!, "f".repeat(16))).toBeUndefined();
    record.close();
    expect(UsageRecord.open(record.path!, context)).toBeUndefined();
  });

  test("does not count processes that have ended", () => {
    const record = recordOf(2 * unit, 0);
    const store = storeOf(record);
    const slot = record.take()!;
    const words = new BigInt64Array(1);
    record.slot(slot).addMemory(2 * unit);
    expect(() => put(store, filled(1, 1))).toThrow(ObjectStoreFullError);
    words[0] = BigInt(2 ** 22 + 1);
    // Its process id is that of a process that does not exist.
    const file = openSync(record.path!, "r+");
    writeSync(file, new Uint8Array(words.buffer), 0, 8, 64 * (slot + 1));
    expect(isFilled(put(store, filled(2, 1)), 2, 1)).toBe(true);
    record.free(slot);
    expect(record.take()).toBe(slot);
  });

  test("finds a damaged file out, and never returns wrong bytes", () => {
    const store = storeOf(recordOf(0, 100 * 2 ** 20));
    const size = 3 * 2 ** 20 + 5;
    const value = put(store, new Uint8Array(size).fill(1));
    const { file } = value.memory!;
    expect(readlinkSync(`/proc/self/fd/${file}`)).toContain(folder);
    const part = () => new Uint8Array(value.apartFor({}).at(2 ** 20, 2 ** 20));
    expect(part()[0]).toBe(1);
    const writable = openSync(`/proc/self/fd/${file}`, "r+");
    writeSync(writable, Uint8Array.of(2), 0, 1, 2 ** 21 - 1);
    expect(part).toThrow(
      "cannot read a value of 3 MiB from disk: the bytes 1048576 to 2097152 of its file have the checksum",
    );
    expect(() => value.bytes()).toThrow(expect.objectContaining({ name: "ObjectLostError" }));
    // Other parts can be read.
    expect(Buffer.from(value.apartFor({}).at(2 ** 21, 2 ** 20 + 5)).every((byte) => byte === 1)).toBe(true);
  });

  test("is opened on disk by its place, and only by that", () => {
    const store = storeOf(recordOf(0, 100 * unit));
    const value = put(store, filled(1, 1));
    const memory = value.memory!;
    const opened = StoredValue.open(memory)!;
    values.push(opened);
    expect(isFilled(opened, 1, 1)).toBe(true);
    const { disk: _, ...inMemory } = memory;
    const next = put(store, filled(1, 2));
    const wrong = [
      inMemory,
      { ...memory, file: next.memory!.file },
      { ...memory, size: memory.size + 1 },
      { ...memory, size: memory.size - 4 },
      { ...memory, token: new Uint8Array(16) },
      { ...memory, file: 0 },
    ];
    for (const place of wrong) expect(StoredValue.open(place)).toBeUndefined();
    value.close();
    expect(StoredValue.open(memory)).toBeUndefined();
    expect(isFilled(opened, 1, 1)).toBe(true);
  });

  test("keeps its limits and all values, whatever several processes put, read and release", () => {
    const step = fc.record({
      kind: fc.constantFrom("put", "put", "read", "map", "release", "hand over"),
      process: fc.nat(2),
      units: fc.integer({ min: 1, max: 4 }),
      at: fc.nat(20),
    });
    fc.assert(
      fc.property(fc.nat(8), fc.nat(8), fc.array(step, { maxLength: 60 }), (memory, disk, steps) => {
        const record = recordOf(memory * unit, spilledSize(disk * unit));
        const stores = [storeOf(record), storeOf(record), storeOf(record)];
        let held: { value: StoredValue; units: number; byte: number; process: number; map: Uint8Array | undefined }[] =
          [];
        for (const [i, { kind, process, units, at }] of steps.entries()) {
          const one = held[at % Math.max(1, held.length)];
          if (kind === "put") {
            const byte = i + 1;
            try {
              const value = new StoredValue(stores[process]!.put([filled(units, byte)], false)!);
              held.push({ value, units, byte, process, map: undefined });
            } catch (error) {
              expect(error).toBeInstanceOf(ObjectStoreFullError);
              // What would have fitted in any case is never refused.
              const isFree = record.disk + spilledSize(units * unit) <= record.limits.disk;
              expect(isFree || record.memory + units * unit <= record.limits.memory).toBe(false);
            }
          } else if (one !== undefined && kind === "map") {
            one.map = one.value.bytes();
          } else if (one !== undefined && kind === "release") {
            one.value.close();
            held = held.filter((other) => other !== one);
            if (one.map !== undefined) expect(one.map.every((byte) => byte === one.byte)).toBe(true);
          } else if (one !== undefined && kind === "hand over") {
            const value = StoredValue.open(one.value.memory!, stores[process]);
            value!.count();
            one.value.close();
            Object.assign(one, { value, process, map: undefined });
          } else if (one !== undefined) {
            expect(isFilled(one.value, one.units, one.byte)).toBe(true);
          }
          expect(record.memory).toBeLessThanOrEqual(record.limits.memory);
          expect(record.disk).toBeLessThanOrEqual(record.limits.disk);
          const inMemory = held.filter(({ value }) => !isOnDisk(value));
          const onDisk = held.filter(({ value }) => isOnDisk(value));
          expect(record.total).toMatchObject({
            memory: inMemory.reduce((sum, { units: count }) => sum + count * unit, 0),
            disk: onDisk.reduce((sum, { units: count }) => sum + spilledSize(count * unit), 0),
            values: held.length,
            spilled: onDisk.length,
          });
        }
        for (const { value, units, byte } of held) {
          expect(isFilled(value, units, byte)).toBe(true);
          value.close();
        }
        expect(record.total).toEqual({ memory: 0, disk: 0, values: 0, spilled: 0, processes: 0 });
        for (const store of stores) store.close();
        record.close();
      }),
      { numRuns: 60 },
    );
  });
});
