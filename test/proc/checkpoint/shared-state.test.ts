/** States in memory that two processes share. These tests have one process on both sides, which makes no difference. */
import { closeSync, fstatSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { mapSharedState, shareState } from "../../../runtime/proc/checkpoint/shared-state.js";

const isShared = process.env["VICEROY_LINKS"] === "memory";
const parts = [Uint8Array.of(1, 2, 3), new Uint8Array(70_000).fill(9), Uint8Array.of(4)];
const bytes = 70_004;

/** The descriptors of memory that this process has open. */
function memoryFiles(): number {
  return readdirSync("/proc/self/fd").filter((fd) => linkOf(fd)?.startsWith("/memfd:viceroy ")).length;
}

function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

test.runIf(isShared)("the receiver maps what the sender has written, also after the sender has closed the file", () => {
  const before = memoryFiles();
  const shared = shareState(parts)!;
  expect(fstatSync(shared.file).size).toBe(bytes + 16);
  const mapped = mapSharedState(shared, bytes)!;
  closeSync(shared.file);
  expect(Buffer.concat(parts).equals(mapped)).toBe(true);
  // What the receiver writes stays in its own process.
  mapped[0] = 77;
  expect(memoryFiles()).toBe(before);
  expect(mapSharedState(shared, bytes)).toBe(undefined);
});

test.runIf(isShared)("a file that is not the offered one is not mapped", () => {
  const before = memoryFiles();
  const shared = shareState(parts)!;
  const other = shareState(parts)!;
  expect(mapSharedState({ ...shared, file: other.file }, bytes)).toBe(undefined);
  expect(mapSharedState(shared, bytes + 4096)).toBe(undefined);
  expect(mapSharedState(shared, bytes - 1)).toBe(undefined);
  expect(mapSharedState({ ...shared, token: new Uint8Array(0) }, bytes)).toBe(undefined);
  const plain = openSync("/dev/null", "r");
  expect(mapSharedState({ ...shared, file: plain }, bytes)).toBe(undefined);
  expect(mapSharedState({ ...shared, pid: 2 ** 31 - 1 }, bytes)).toBe(undefined);
  expect(mapSharedState(shared, bytes)).toBeInstanceOf(Uint8Array);
  for (const fd of [shared.file, other.file, plain]) closeSync(fd);
  expect(memoryFiles()).toBe(before);
});

test.skipIf(isShared)("a process without shared memory offers and maps none", () => {
  expect(shareState(parts)).toBe(undefined);
  expect(mapSharedState({ pid: process.pid, file: 1, token: new Uint8Array(16) }, bytes)).toBe(undefined);
});
