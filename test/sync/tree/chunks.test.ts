import fc from "fast-check";
import { expect, test } from "vitest";
import { chunksOf, MAX_CHUNK_BYTES, MIN_CHUNK_BYTES, NORMAL_CHUNK_BYTES } from "../../../runtime/sync/tree/chunks.js";
import { digestOf } from "../../../runtime/sync/tree/digest.js";
import { cases } from "../../profile.js";
import { randomNumbers } from "../../random.js";

/** Returns bytes that look random, the same for the same seed. */
function randomBytes(length: number, seed: number): Buffer {
  const next = randomNumbers(seed);
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let i = 0; i < words.length; i++) words[i] = next() * 2 ** 32;
  return Buffer.from(words.buffer, 0, length);
}

const sizes = (bytes: Uint8Array) => [...chunksOf(bytes)].map(({ length }) => length);

test("the places of cuts never change, because stores on other hosts have the chunks", () => {
  const bytes = randomBytes(2 ** 20, 1);
  expect(digestOf(Buffer.from(sizes(bytes).join(" ")))).toBe(
    "b822a66ae21d7bf696ce010bd7ecfbf1b82cd1952d1d38acd7851ed932bce3dd",
  );
});

test("content of at most 256 KiB is one chunk, and no content is none", () => {
  expect(sizes(Buffer.alloc(0))).toEqual([]);
  expect(sizes(randomBytes(1, 1))).toEqual([1]);
  expect(sizes(randomBytes(262_144, 1))).toEqual([262_144]);
  expect(sizes(randomBytes(262_145, 1)).length).toBeGreaterThan(1);
});

test("chunks are the content, and have sizes between the limits", () => {
  const length = fc.integer({ min: 1, max: 3e6 });
  fc.assert(
    fc.property(length, fc.integer(), fc.boolean(), (bytes, seed, isConstant) => {
      const content = isConstant ? Buffer.alloc(bytes, seed & 255) : randomBytes(bytes, seed);
      const chunks = [...chunksOf(content)];
      expect(Buffer.concat(chunks).equals(content)).toBe(true);
      for (const chunk of chunks) expect(chunk.length).toBeLessThanOrEqual(MAX_CHUNK_BYTES);
      for (const chunk of chunks.slice(0, -1)) expect(chunk.length).toBeGreaterThan(MIN_CHUNK_BYTES);
    }),
    { numRuns: cases(10, 100) },
  );
});

test("chunks have the normal size on average, and an insertion or removal changes those around it", () => {
  const bytes = randomBytes(8 * 2 ** 20, 7);
  const chunks = [...chunksOf(bytes)];
  const mean = bytes.length / chunks.length;
  expect(mean).toBeGreaterThan(0.8 * NORMAL_CHUNK_BYTES);
  expect(mean).toBeLessThan(1.5 * NORMAL_CHUNK_BYTES);
  const known = new Set(chunks.map(digestOf));
  const edits = [
    Buffer.concat([bytes.subarray(0, 3e6), Buffer.from("0123456789"), bytes.subarray(3e6)]),
    Buffer.concat([bytes.subarray(0, 3e6), bytes.subarray(3e6 + 10)]),
    Buffer.concat([Buffer.from("x"), bytes]),
  ];
  for (const edited of edits) {
    const changed = [...chunksOf(edited)].filter((chunk) => !known.has(digestOf(chunk)));
    expect(changed.length).toBeLessThanOrEqual(3);
  }
});
