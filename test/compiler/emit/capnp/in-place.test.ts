/** A field of a large message is read in place: nothing is copied or written, and no other data is visited. */
import { expect, test } from "vitest";
import {
  decodeRecordingCapnp,
  type RecordingReader,
  readRecordingCapnp,
  writeRecordingCapnp,
} from "./golden/kinds/capnp/kinds.js";
import type { Recording } from "./golden/kinds/kinds.js";

const marks = Array.from({ length: 50_000 }, (_, i) => ({ at: BigInt(i), text: `mark ${i}`, by: null }));
const large: Recording = {
  title: "Whales",
  rate: 96_000,
  started: new Date(1_700_000_000_000),
  samples: Float64Array.from({ length: 100_000 }, (_, i) => i / 2),
  marks,
  raw: new Uint8Array(1_000_000).fill(7),
};
const bytes = writeRecordingCapnp(large);

test("reading a field uses as much of the traversal limit as the field has bytes, in any message", () => {
  expect(bytes.byteLength).toBeGreaterThan(4_000_000);
  // The root has 2 words of data and 4 pointers, and 8 bytes more are counted for each pointer that is followed.
  const root = 8 * (2 + 4) + 8;
  const reader = readRecordingCapnp(bytes, { traversal: root + 7 + 8 });
  expect(reader.rate).toBe(96_000);
  expect(reader.started).toEqual(large.started);
  expect(reader.title).toBe("Whales");
  expect(() => reader.title).toThrow("more of it has been looked at than its limit allows");
});

test("an element of a list is read by its index, and is undefined outside of the list", () => {
  const reader = readRecordingCapnp(bytes);
  expect(reader.marks.length).toBe(50_000);
  expect(reader.marks.at(49_999)?.text).toBe("mark 49999");
  expect(reader.marks.at(-1)?.at).toBe(49_999n);
  expect(reader.marks.at(50_000)).toBeUndefined();
  expect(reader.marks.at(0.5)).toBeUndefined();
});

test("a field is read correctly even if all unrelated bytes are garbage", () => {
  const damaged = bytes.slice();
  const whole = readRecordingCapnp(damaged);
  const { title, samples, raw } = placesOf(whole, damaged);
  const keep = [
    [0, 16],
    [16, 16 + 8 * 6],
    [title, title + 7],
  ] as const;
  for (let at = 0; at < damaged.length; at++) {
    if (!keep.some(([from, to]) => at >= from && at < to)) damaged[at] = 0xff;
  }
  expect(readRecordingCapnp(damaged).title).toBe("Whales");
  expect(readRecordingCapnp(damaged).rate).toBe(96_000);
  expect(damaged[samples]).toBe(0xff);
  expect(damaged[raw]).toBe(0xff);
  expect(() => decodeRecordingCapnp(damaged)).toThrow("cannot read");
});

test("bytes and typed arrays are views of the message's memory", () => {
  const own = bytes.slice();
  const { samples, raw } = readRecordingCapnp(own);
  expect(samples.buffer).toBe(own.buffer);
  expect(raw.buffer).toBe(own.buffer);
  expect(samples).toEqual(large.samples);
  raw[3] = 200;
  expect(readRecordingCapnp(own).raw[3]).toBe(200);
});

test("a typed array that is not aligned in memory is copied", () => {
  const shifted = new Uint8Array(bytes.byteLength + 3).subarray(3);
  shifted.set(bytes);
  const { samples } = readRecordingCapnp(shifted);
  expect(samples.buffer).not.toBe(shifted.buffer);
  expect(samples).toEqual(large.samples);
});

test("decoded values share no memory with the message", () => {
  const own = bytes.slice();
  const value = decodeRecordingCapnp(own);
  own.fill(0);
  expect(value).toStrictEqual(large);
});

test("messages are written into and read from shared memory that is larger than the message", () => {
  const memory = new Uint8Array(new SharedArrayBuffer(bytes.byteLength + 4096), 64).fill(0xaa);
  const written = writeRecordingCapnp(large, { into: memory });
  expect(written.buffer).toBe(memory.buffer);
  expect(written.byteOffset).toBe(64);
  expect(Buffer.compare(written, bytes)).toBe(0);
  expect(memory[written.byteLength]).toBe(0xaa);
  const before = memory.slice();
  const reader = readRecordingCapnp(memory);
  expect(reader.title).toBe("Whales");
  expect(reader.samples.buffer).toBe(memory.buffer);
  expect(reader.marks.at(7)?.sure).toBeUndefined();
  expect(decodeRecordingCapnp(memory)).toStrictEqual(large);
  expect(Buffer.compare(memory, before)).toBe(0);
});

test("writing into memory that is too small is refused", () => {
  expect(() => writeRecordingCapnp(large, { into: new Uint8Array(100) })).toThrow(
    "cannot write Recording.samples: it does not fit into the 100 bytes that it was given",
  );
});

/** Returns the byte offsets at which the parts of a recording begin in the message. */
function placesOf({ samples, raw }: RecordingReader, message: Uint8Array) {
  return {
    title: Buffer.from(message).indexOf("Whales"),
    samples: samples.byteOffset - message.byteOffset,
    raw: raw.byteOffset - message.byteOffset,
  };
}
