/** Tests of the memory for incoming bytes: one buffer for all links, unless it is in use. */
import { expect, test } from "vitest";
import {
  beginHandling,
  endHandling,
  isShared,
  memoryToReadInto,
  RECEIVE_BUFFER,
  releaseOwnMemory,
  takeOwnMemory,
} from "../../../runtime/link/inbound/receive-memory.js";

test("all links read into the same buffer while its bytes are not being handled", () => {
  const memory = memoryToReadInto();
  expect([isShared(memory), memoryToReadInto() === memory]).toEqual([true, true]);
  beginHandling();
  const other = memoryToReadInto();
  expect([isShared(other), memoryToReadInto() === other]).toEqual([false, false]);
  endHandling();
  expect(memoryToReadInto()).toBe(memory);
  for (const { bytes, view } of [memory, other]) {
    expect([bytes.length, view.byteLength, view.buffer === bytes.buffer]).toEqual([
      RECEIVE_BUFFER,
      RECEIVE_BUFFER,
      true,
    ]);
  }
});

test("a taken buffer is exclusive until it is released, and sixteen released buffers are kept", () => {
  const pieces = Array.from({ length: 20 }, takeOwnMemory);
  expect([new Set(pieces).size, pieces.some(isShared)]).toEqual([20, false]);
  for (const piece of pieces) releaseOwnMemory(piece);
  const again = new Set(Array.from({ length: 20 }, takeOwnMemory));
  expect([again.size, pieces.filter((piece) => again.has(piece)).length]).toEqual([20, 16]);
});
