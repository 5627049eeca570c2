/** The writer as links use it: it writes frames one after another, hands them over as a batch, and reuses pages. */
import { describe, expect, test } from "vitest";
import { CodecRefusal } from "../../runtime/wire/codec-refusal.js";
import { type Codec, codec, Reader, Writer } from "../../runtime/wire/index.js";
import { STANDARD_PAGE_BYTES } from "../../runtime/wire/limits.js";

/** Reads the message in `bytes[start, end)` as a link does. */
function readAt<T>(
  of: typeof codec.string | { decodeFrom(r: Reader): T },
  bytes: Uint8Array,
  start: number,
  end: number,
) {
  const r = new Reader();
  r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), start, end);
  return of.decodeFrom(r);
}

test("messages start at multiples of 8, behind the space reserved for a header", () => {
  const w = new Writer(64);
  const places: [number, number][] = [];
  for (const text of ["a", "some more text", ""]) {
    w.align();
    const header = w.reserve(8);
    w.view.setUint32(header, 0xffffffff);
    const start = w.position;
    codec.string.encodeInto(w, text);
    expect(start % 8).toBe(0);
    places.push([start, w.position]);
  }
  const batch = w.take();
  expect(places.map(([start, end]) => readAt(codec.string, batch, start, end))).toEqual(["a", "some more text", ""]);
});

test("a batch grows and keeps the messages that were written before", () => {
  const w = new Writer(16);
  const texts = Array.from({ length: 50 }, (_, i) => `text ${i} `.repeat(i));
  const places = texts.map((text): [number, number] => {
    w.align();
    const start = w.position;
    codec.string.encodeInto(w, text);
    return [start, w.position];
  });
  const batch = w.take();
  expect(places.map(([start, end]) => readAt(codec.string, batch, start, end))).toEqual(texts);
});

test("a writer starts with a small page, and uses standard pages after a larger message", () => {
  const w = new Writer(256);
  const written = (length: number) => {
    codec.string.encodeInto(w, "x".repeat(length));
    const batch = w.take();
    w.recycle(batch);
    return batch.buffer.byteLength;
  };
  expect([written(20), written(20)]).toEqual([256, 256]);
  expect(written(1000)).toBeGreaterThan(1000);
  expect(written(20)).toBe(STANDARD_PAGE_BYTES);
});

test("a taken batch stays unchanged until it is recycled, and then its page is reused", () => {
  const w = new Writer();
  codec.string.encodeInto(w, "one");
  const one = w.take();
  const copy = one.slice();
  codec.string.encodeInto(w, "two");
  const two = w.take();
  expect(one).toEqual(copy);
  expect(two.buffer).not.toBe(one.buffer);
  w.recycle(one);
  codec.string.encodeInto(w, "three");
  expect(w.take().buffer).toBe(one.buffer);
});

test("a writer without data has no page, and takes a page that another writer recycled", () => {
  const [first, second] = [new Writer(), new Writer()];
  expect(first.capacity).toBe(0);
  codec.string.encodeInto(first, "one");
  const batch = first.take();
  expect(first.capacity).toBe(0);
  first.recycle(batch);
  codec.string.encodeInto(second, "two");
  expect(second.bytes.buffer).toBe(batch.buffer);
});

test("padding bytes between messages are zero, also in a page with old data", () => {
  const w = new Writer(64);
  w.reserve(8);
  w.bytes.fill(0xff);
  w.clear();
  codec.boolean.encodeInto(w, true);
  codec.boolean.encodeInto(w, true);
  expect([...w.take()]).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 1]);
});

test("large arrays are listed as blocks instead of copied, and are decoded from separate blocks", () => {
  const type = codec.tuple(codec.bytes, codec.float64Array, codec.bytes);
  const large = new Uint8Array(40_000).fill(7);
  const doubles = Float64Array.from({ length: 5000 }, (_, i) => i);
  const w = new Writer();
  type.encodeInto(w, [large, doubles, Uint8Array.of(1)]);
  expect(w.blocks.map(({ buffer }) => buffer)).toEqual([large.buffer, doubles.buffer]);
  const end = w.position;
  const message = w.take();
  const r = new Reader();
  const read = (blocks: readonly Uint8Array[]) => {
    r.reset(message, new DataView(message.buffer, message.byteOffset, end), 0, end, blocks);
    return type.decodeFrom(r);
  };
  const received = w.blocks.map((block) => block.slice());
  const [first, second, third] = read(received);
  expect([first, second, third]).toEqual([large, doubles, Uint8Array.of(1)]);
  // A separate block belongs to the decoded value.
  expect(first.buffer).toBe(received[0]?.buffer);
  expect(second.buffer).toBe(received[1]?.buffer);
  expect(() => read(received.slice(1))).toThrow("[1]: a block is missing or has the wrong size");
  expect(() => read([...received, received[0]!])).toThrow("there are more blocks than values need");
});

test("a failed encoding removes its own blocks and keeps earlier ones", () => {
  const w = new Writer();
  const type = codec.tuple(codec.bytes, codec.int32);
  type.encodeInto(w, [new Uint8Array(40_000), 1]);
  expect(() => type.encodeInto(w, [new Uint8Array(40_000), 0.5])).toThrow("cannot encode");
  expect(w.blocks.length).toBe(1);
  // A failed message without blocks does not remove the blocks of other messages.
  expect(() => codec.int32.encodeInto(w, 0.5)).toThrow("cannot encode");
  expect(w.blocks.length).toBe(1);
});

test("encode returns a plain Uint8Array with its own memory, not a Buffer", () => {
  for (const text of ["", "a", "a".repeat(100_000)]) {
    const bytes = codec.string.encode(text);
    expect(bytes.constructor).toBe(Uint8Array);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  }
  const blocks = codec.bytes.encode(new Uint8Array(50_000));
  expect(blocks.constructor).toBe(Uint8Array);
  expect(blocks.buffer.byteLength).toBe(blocks.length);
});

test("decoded bytes are plain Uint8Arrays, and are views of the input only on request", () => {
  const type = codec.tuple(codec.bytes, codec.float64Array);
  const bytes = Buffer.from(type.encode([Uint8Array.of(1, 2), Float64Array.of(3)]));
  const copied = type.decode(bytes);
  expect(copied[0].constructor).toBe(Uint8Array);
  expect(copied[0].buffer).not.toBe(bytes.buffer);
  const aligned = new Uint8Array(new ArrayBuffer(bytes.length));
  aligned.set(bytes);
  const viewed = type.decode(aligned, { views: true });
  expect(viewed).toEqual(copied);
  expect(viewed[1].buffer).toBe(aligned.buffer);
  // Misaligned arrays are copied nevertheless.
  const odd = new Uint8Array(bytes.length + 1).subarray(1);
  odd.set(bytes);
  expect(type.decode(odd, { views: true })).toEqual(copied);
  expect(type.decode(odd)).toEqual(copied);
});

test("one reader decodes typed arrays of different classes out of one batch, wherever the batch starts", () => {
  const type = codec.tuple(codec.float64Array, codec.float32Array, codec.int16Array, codec.array(codec.double));
  const values = [0, 1, 2, 3].map((i): [Float64Array, Float32Array, Int16Array, number[]] => {
    const numbers = Array.from({ length: 30 + i }, (_, at) => i * 100 + at);
    return [Float64Array.from(numbers), Float32Array.from(numbers), Int16Array.from(numbers), numbers];
  });
  const w = new Writer();
  const ends = values.map((value) => {
    type.encodeInto(w, value);
    return w.position;
  });
  const batch = w.take();
  for (let shift = 0; shift <= 8; shift++) {
    const bytes = new Uint8Array(new ArrayBuffer(batch.length + shift), shift);
    bytes.set(batch);
    const view = new DataView(bytes.buffer, shift);
    const r = new Reader();
    const decoded = values.map((_, i) => {
      r.reset(bytes, view, Math.ceil((ends[i - 1] ?? 0) / 8) * 8, ends[i] as number);
      return type.decodeFrom(r);
    });
    // The arrays are copies: they keep their elements when the batch's memory is used again.
    bytes.fill(255);
    expect(decoded).toEqual(values);
  }
});

test("a message cannot be encoded into a writer while another one is being encoded", () => {
  const w = new Writer();
  const value = {
    get text(): string {
      codec.string.encodeInto(w, "inner");
      return "outer";
    },
  };
  const type = codec.object("T", { text: codec.string });
  expect(() => type.encodeInto(w, value)).toThrow(
    "cannot encode T.text: cannot encode string: the writer is inside another message",
  );
  expect(w.position).toBe(0);
  // Encoding whole messages inside one another is fine.
  const nesting = {
    get text(): string {
      return codec.string.decode(codec.string.encode("inner"));
    },
  };
  expect(type.decode(type.encode(nesting))).toEqual({ text: "inner" });
});

test("a message with blocks can start behind other data in a batch", () => {
  const w = new Writer();
  const type = codec.tuple(codec.bytes, codec.string);
  codec.string.encodeInto(w, "something before");
  w.align();
  const start = w.position;
  type.encodeInto(w, [new Uint8Array(40_000).fill(7), "text"]);
  const [end, blocks] = [w.position, w.blocks.map((block) => block.slice())];
  const batch = w.take();
  const r = new Reader();
  r.reset(batch, new DataView(batch.buffer, batch.byteOffset, batch.byteLength), start, end, blocks);
  const [bytes, text] = type.decodeFrom(r);
  expect(Buffer.compare(bytes, new Uint8Array(40_000).fill(7))).toBe(0);
  expect(text).toBe("text");
});

test("a recursive value nests up to 256 levels, and siblings do not add depth", () => {
  interface Tree {
    children: Tree[];
  }
  const tree: Codec<Tree> = codec.object<Tree>("Tree", () => ({ children: codec.array(tree) }));
  const wide = { children: Array.from({ length: 300 }, () => ({ children: [] })) };
  expect(tree.decode(tree.encode(wide))).toEqual(wide);
  const nested = (depth: number): Tree => ({ children: depth === 1 ? [] : [nested(depth - 1)] });
  expect(tree.decode(tree.encode(nested(256)))).toEqual(nested(256));
  expect(() => tree.encode(nested(257))).toThrow("nested deeper than 256");
  const w = new Writer();
  for (let i = 0; i < 256; i++) w.enter();
  expect(() => w.enter()).toThrow("nested deeper than 256");
});

test("a message can be decoded at any offset, and its typed arrays are copies", () => {
  const type = codec.tuple(codec.int32, codec.array(codec.double), codec.float64Array, codec.string);
  const value: [number, number[], Float64Array, string] = [1, [0.5, 1.5], Float64Array.of(2.5), "日本"];
  const message = type.encode(value);
  for (let start = 0; start < 9; start++) {
    const memory = new Uint8Array(start + message.length + 5).fill(0xee);
    memory.set(message, start);
    const r = new Reader();
    r.reset(memory, new DataView(memory.buffer), start, start + message.length);
    const read = type.decodeFrom(r);
    expect(read).toEqual(value);
    expect(read[2].buffer).not.toBe(memory.buffer);
    r.reset(memory, new DataView(memory.buffer), start, start + 3);
    expect(() => type.decodeFrom(r)).toThrow(/: it takes at least \d+ bytes, got 3$/);
  }
});

test("a block offset outside the message is refused", () => {
  const bytes = codec.bytes.encode(Uint8Array.of(1, 2));
  for (const start of [bytes.length + 1, 255, 0]) {
    const wrong = bytes.slice();
    wrong[0] = start;
    expect(() => codec.bytes.decode(wrong)).toThrow("cannot decode bytes: the blocks start outside the message");
  }
});

test("a page doubles its capacity until the value fits", () => {
  const w = new Writer(16);
  w.reserve(10);
  expect(w.capacity).toBe(16);
  w.reserve(90);
  expect(w.capacity).toBe(128);
  expect(w.position).toBe(100);
});

describe("the writer methods of generated code", () => {
  const noNumbers = [undefined, null, "1", true, {}];
  const notIntegers = [...noNumbers, 0.5, Number.NaN];
  const put: readonly (readonly [string, (w: Writer, value: never) => void, readonly unknown[], readonly unknown[]])[] =
    [
      ["putBoolean", (w, value) => w.putBoolean(0, value), [true, false], [undefined, null, 0, 1, "true"]],
      ["putDouble", (w, value) => w.putDouble(0, value), [0, -0, Number.NaN, 1e300], [...noNumbers, 5n]],
      ["putInt32", (w, value) => w.putInt32(0, value), [-(2 ** 31), 2 ** 31 - 1], [...notIntegers, 2 ** 31]],
      ["putUint32", (w, value) => w.putUint32(0, value), [0, 2 ** 32 - 1], [...notIntegers, -1, 2 ** 32]],
      [
        "putFloat32",
        (w, value) => w.putFloat32(0, value),
        [0.5, Number.NEGATIVE_INFINITY, Number.NaN],
        [...noNumbers, 5n, 1e39, -1e39],
      ],
      [
        "putInt64",
        (w, value) => w.putInt64(0, value),
        [-(2n ** 63n), 2n ** 63n - 1n],
        [...noNumbers, 5, 2n ** 63n, -(2n ** 63n) - 1n],
      ],
      ["putUint64", (w, value) => w.putUint64(0, value), [0n, 2n ** 64n - 1n], [...noNumbers, 5, -1n, 2n ** 64n]],
      ["putDate", (w, value) => w.putDate(0, value), [new Date(0)], [...noNumbers, 0, new Date(Number.NaN)]],
      ["putString", (w, value) => w.putString(0, value), ["", "é"], [undefined, null, 5, ["a"], {}]],
      [
        "putBytes",
        (w, value) => w.putBytes(0, value),
        [Uint8Array.of(1)],
        [undefined, null, "a", [1], new Int8Array(1)],
      ],
      [
        "putNumbers",
        (w, value) => w.putNumbers(0, value),
        [[], [1], [1, 2, 3, 4, 5]],
        [undefined, null, 5, {}, new Float64Array(1), [5n], [1, 2, 3, 4, "5"]],
      ],
      ["requireObject", (w, value) => w.requireObject(value), [{}, [], new Date(0)], [undefined, null, 5, "a"]],
      ["requireRecord", (w, value) => w.requireRecord(value), [{}, { a: 1 }], [undefined, null, 5, "a", [], new Map()]],
      ["requireArray", (w, value) => w.requireArray(value), [[]], [undefined, null, 5, "a", {}, new Set()]],
      ["requireMap", (w, value) => w.requireMap(value), [new Map()], [undefined, null, 5, "a", {}, [], new Set()]],
      ["requireSet", (w, value) => w.requireSet(value), [new Set()], [undefined, null, 5, "a", {}, [], new Map()]],
    ];

  test.each(put)("%s accepts values of its type and refuses others", (_, step, good, wrong) => {
    const w = new Writer();
    w.reserve(8);
    for (const value of good) expect(() => step(w, value as never)).not.toThrow();
    for (const value of wrong) expect(() => step(w, value as never)).toThrow(CodecRefusal);
  });

  test("putNumbers refuses a wrong element at any position", () => {
    for (let at = 0; at < 9; at++) {
      const values = Array.from({ length: 9 }, (_, i) => (i === at ? "x" : i));
      const w = new Writer();
      w.reserve(8);
      expect(() => w.putNumbers(0, values as never)).toThrow(CodecRefusal);
    }
  });
});
