/** Tests of values in the memory of the machine. They need the addon. */
import { closeSync, openSync, readlinkSync, writeSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { canSealMemory } from "../../../runtime/link/transport/shared-memory/sealed-memory.js";
import { StoredFile } from "../../../runtime/tasks/objects/stored-file.js";
import { StoredValue } from "../../../runtime/tasks/objects/stored-value.js";

const opened: StoredValue[] = [];
afterEach(() => {
  for (const value of opened.splice(0)) value.close();
});

function store(...parts: Uint8Array[]): StoredValue {
  const value = new StoredValue(StoredFile.inMemory(parts, undefined)!);
  opened.push(value);
  return value;
}

const head = new Uint8Array(4096).fill(1);
const large = new Uint8Array(70_000).fill(2);
const isSame = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0;

describe.skipIf(!canSealMemory())("a stored value", () => {
  test("has all its bytes, of which each reader has a copy of its own", () => {
    const value = store(head, large);
    expect(value.size).toBe(74_096);
    expect(value.head).toEqual(head);
    expect(isSame(value.bytes(), Buffer.concat([head, large]))).toBe(true);
    const [one, other] = [{}, {}];
    const own = new Uint8Array(value.apartFor(one).at(4096, 70_000));
    expect(isSame(own, large)).toBe(true);
    own.fill(9);
    expect(new Uint8Array(value.apartFor(one).at(4096, 70_000))[0]).toBe(9);
    expect(isSame(new Uint8Array(value.apartFor(other).at(4096, 70_000)), large)).toBe(true);
    expect(isSame(value.bytes().subarray(4096), large)).toBe(true);
  });

  test("cannot be changed by any process that can open it", () => {
    const { pid, file } = store(head).memory!;
    const path = `/proc/${pid}/fd/${file}`;
    expect(readlinkSync(path)).toBe("/memfd:viceroy (deleted)");
    const writable = openSync(path, "r+");
    expect(() => writeSync(writable, Uint8Array.of(7), 0, 1, 0)).toThrow("EPERM");
    closeSync(writable);
  });

  test("is opened by its place, and only by that", () => {
    const value = store(head, large);
    const memory = value.memory!;
    const again = StoredValue.open(memory)!;
    opened.push(again);
    value.close();
    value.close();
    expect(isSame(again.bytes(), Buffer.concat([head, large]))).toBe(true);
    expect(value.memory).toBeUndefined();
    expect(() => value.bytes()).toThrow("cannot read a value that was released");
    const next = store(large);
    const { token } = again.memory!;
    const wrong = [
      memory,
      { ...memory, file: next.memory!.file },
      { ...again.memory!, size: memory.size - 1 },
      { ...again.memory!, size: memory.size + 4096 },
      { ...again.memory!, head: memory.size + 1 },
      { ...again.memory!, token: token.subarray(1) },
      { ...again.memory!, token: new Uint8Array(16) },
      { ...again.memory!, file: 0 },
      { ...again.memory!, pid: 2 ** 31 - 1 },
    ];
    for (const place of wrong) expect(StoredValue.open(place)).toBeUndefined();
  });

  test("has many parts", () => {
    const parts = Array.from({ length: 3000 }, (_, i) => new Uint8Array(i % 5).fill(i));
    expect(isSame(store(...parts).bytes(), Buffer.concat(parts))).toBe(true);
  });
});
