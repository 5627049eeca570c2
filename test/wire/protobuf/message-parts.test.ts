/** Messages that are encoded in parts, where large bytes and typed arrays stay in the memory of the value. */
import { expect, test } from "vitest";
import { type Codec, codec } from "../../../runtime/wire/index.js";
import { MAX_MESSAGE_BYTES, MIN_BLOCK_BYTES } from "../../../runtime/wire/limits.js";
import type { MessageCodec } from "../../../runtime/wire/message-codec.js";

const leaf = codec.object("Leaf", {
  name: codec.string,
  weights: codec.float32Array,
  raw: codec.optional(codec.bytes),
});
const tree = codec.object("Tree", {
  before: codec.string,
  leaves: codec.map(codec.string, leaf),
  nested: codec.array(codec.object("Branch", { leaf, after: codec.int32 })),
  counts: codec.float64Array,
  after: codec.string,
});

function partsOf<T>(of: Codec<T>, value: T): Uint8Array[] {
  return (of as unknown as MessageCodec<T>).toProtobufParts(value);
}

const leafOf = (bytes: number) => ({
  name: `leaf of ${bytes}`,
  weights: new Float32Array(bytes / 4).map((_, i) => i),
  raw: new Uint8Array(bytes).fill(bytes % 251),
});

/** Sizes around those at which a part stays where it is, and at which the length of a message takes another byte. */
const sizes = [0, 4, 120, 16_380, MIN_BLOCK_BYTES - 4, MIN_BLOCK_BYTES, MIN_BLOCK_BYTES + 4, 2 ** 21 - 8, 2 ** 21 + 4];

test.each(sizes)("the parts of a message with arrays of %d bytes are the message, in order", (size) => {
  const value = {
    before: "b".repeat(200),
    leaves: new Map(["x", "y"].map((key) => [key, leafOf(size)])),
    nested: [
      { leaf: leafOf(size), after: -1 },
      { leaf: leafOf(8), after: 2 },
      { leaf: leafOf(size), after: 3 },
    ],
    counts: new Float64Array(Math.floor(size / 8)).fill(0.5),
    after: "a".repeat(200),
  };
  const whole = tree.toProtobuf(value);
  const parts = partsOf(tree, value);
  expect(Buffer.concat(parts).equals(whole)).toBe(true);
  // Four leaves with two arrays each, and the counts.
  const large = size >= MIN_BLOCK_BYTES ? 8 + (Math.floor(size / 8) * 8 >= MIN_BLOCK_BYTES ? 1 : 0) : 0;
  const memories = new Set<ArrayBufferLike>([value.counts.buffer]);
  for (const { weights, raw } of [...value.leaves.values(), ...value.nested.map((branch) => branch.leaf)]) {
    memories.add(weights.buffer).add(raw.buffer);
  }
  expect(parts.filter(({ buffer }) => memories.has(buffer)).length).toBe(large);
});

test("a value that the codec does not take is refused with the field, as by toProtobuf", () => {
  const wrong = { name: "n", weights: new Float32Array(MIN_BLOCK_BYTES), raw: "text" } as never;
  expect(() => partsOf(leaf, wrong)).toThrow("cannot encode Leaf.raw: invalid bytes: expected a Uint8Array, got");
});

test("parts that together exceed the size of a message are refused", () => {
  const many = codec.object("Many", { all: codec.array(codec.bytes) });
  const half = new Uint8Array(2 ** 30);
  expect(() => partsOf(many, { all: [half, half] })).toThrow(
    `cannot encode Many: it takes more than ${MAX_MESSAGE_BYTES} bytes`,
  );
});
