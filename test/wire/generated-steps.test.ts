/** One codec for each step of generated code: compared with composed codecs, and at the limits of generated code. */
import assert from "node:assert/strict";
import { describe, expect, test } from "vitest";
import { CodecRefusal } from "../../runtime/wire/codec-refusal.js";
import { type Codec, type CodecError, codec, GeneratedCodec, Reader, Writer } from "../../runtime/wire/index.js";
import { MIN_BLOCK_BYTES } from "../../runtime/wire/limits.js";
import { compareCodecs, type Generated } from "./compare-codecs.js";

type Put<T> = (w: Writer, at: number, value: T) => void;
type Get<T> = (r: Reader, at: number) => T;

class Straight<T> extends GeneratedCodec<T> {
  readonly #put: Put<T>;
  readonly #get: Get<T>;
  readonly #composed: Codec<T>;

  constructor(composed: Codec<T>, put: Put<T>, get: Get<T>) {
    const { slot, text, bulk, fingerprint } = composed;
    super(composed.name, fingerprint, {
      slot,
      ...(text && { text }),
      ...(bulk && { bulk }),
    });
    this.#put = put;
    this.#get = get;
    this.#composed = composed;
  }

  override write(w: Writer, at: number, value: T): void {
    this.#put(w, at, value);
  }

  override read(r: Reader, at: number): T {
    return this.#get(r, at);
  }

  override shape(): Codec<T> {
    return this.#composed;
  }
}

const numbers = new Straight<number[]>(
  codec.array(codec.double),
  (w, at, value) => w.putNumbers(at, value),
  (r, at) => r.getNumbers(at),
);
const bytes = new Straight(
  codec.bytes,
  (w, at, value) => w.putBytes(at, value),
  (r, at) => r.getBytes(at),
);
const text = new Straight(
  codec.string,
  (w, at, value) => w.putString(at, value),
  (r, at) => r.getString(at),
);
const shorts = new Straight<Int16Array>(
  codec.int16Array,
  (w, at, value) => (value instanceof Int16Array ? w.putTyped(at, value) : w.refuse()),
  (r, at) => r.getTyped(at, Int16Array),
);
const doubles = new Straight<Float64Array>(
  codec.float64Array,
  (w, at, value) => (value instanceof Float64Array ? w.putTyped(at, value) : w.refuse()),
  (r, at) => r.getTyped(at, Float64Array),
);
const record = new Straight<Record<string, number>>(
  codec.record(codec.int32),
  (w, at, value) => {
    w.requireRecord(value);
    const entries = Object.entries(value);
    w.putCount(at, entries.length);
    let slot = w.reserve(entries.length * 5);
    for (const [key, one] of entries) {
      w.putString(slot, key);
      w.putInt32(slot + 1, one);
      slot += 5;
    }
  },
  (r, at) => {
    const n = r.getCount(at);
    let slot = r.take(n * 5);
    const value: Record<string, number> = {};
    for (let i = 0; i < n; i++) {
      r.define(value, r.getString(slot), r.view.getInt32(slot + 1, true));
      slot += 5;
    }
    return value;
  },
);

const codecs: readonly Generated[] = [
  new Straight(
    codec.boolean,
    (w, at, value) => w.putBoolean(at, value),
    (r, at) => r.getBoolean(at),
  ),
  new Straight(
    codec.double,
    (w, at, value) => w.putDouble(at, value),
    (r, at) => r.view.getFloat64(at, true),
  ),
  new Straight(
    codec.float32,
    (w, at, value) => w.putFloat32(at, value),
    (r, at) => r.view.getFloat32(at, true),
  ),
  new Straight(
    codec.int32,
    (w, at, value) => w.putInt32(at, value),
    (r, at) => r.view.getInt32(at, true),
  ),
  new Straight(
    codec.uint32,
    (w, at, value) => w.putUint32(at, value),
    (r, at) => r.view.getUint32(at, true),
  ),
  new Straight(
    codec.int64,
    (w, at, value) => w.putInt64(at, value),
    (r, at) => r.view.getBigInt64(at, true),
  ),
  new Straight(
    codec.uint64,
    (w, at, value) => w.putUint64(at, value),
    (r, at) => r.view.getBigUint64(at, true),
  ),
  new Straight(
    codec.date,
    (w, at, value) => w.putDate(at, value),
    (r, at) => r.getDate(at),
  ),
  ...[text, bytes, shorts, doubles, numbers, record],
] as readonly Generated[];
compareCodecs(new Map(codecs.map((one) => [one.name, one])));

describe("lists of doubles", () => {
  const list = (length: number) => Array.from({ length }, (_, i) => i / 3 - 1);

  test.each([0, 1, 2, 3, 4, 5, 7, 8, 9, 254, 255, 256])(
    "a list of %i doubles has the bytes that composed codecs write and read",
    (length) => {
      const encoded = numbers.encode(list(length));
      expect(encoded).toEqual(numbers.shape().encode(list(length)));
      expect(numbers.decode(encoded)).toEqual(list(length));
      // The message lies at an odd offset, and then at an offset that is no multiple of 8.
      const odd = new Uint8Array(encoded.length + 1).subarray(1);
      odd.set(encoded);
      expect(numbers.decode(odd, { views: true })).toEqual(list(length));
      const later = new Uint8Array(encoded.length + 4);
      later.set(encoded, 4);
      const r = new Reader();
      r.reset(later, new DataView(later.buffer), 4, later.length);
      expect(numbers.decodeFrom(r)).toEqual(list(length));
    },
  );

  test("an element that is not a number is found at any index", () => {
    for (let length = 1; length < 10; length++) {
      for (let at = 0; at < length; at++) {
        const wrong = list(length).with(at, "1" as never);
        expect(() => numbers.encode(wrong)).toThrow(
          `cannot encode double[][${at}]: invalid double: expected a number, got "1"`,
        );
      }
    }
  });

  test("a reader that is reset does not read the memory of the previous message", () => {
    const r = new Reader();
    for (const value of [list(5), list(9), list(5).reverse()]) {
      const encoded = numbers.encode(value);
      r.reset(encoded, new DataView(encoded.buffer), 0, encoded.length);
      expect(numbers.decodeFrom(r)).toEqual(value);
    }
  });
});

describe("keys of records", () => {
  test("the key `__proto__` is an own writable property, and a duplicate key is refused", () => {
    const value = JSON.parse('{"__proto__":1,"constructor":2}') as Record<string, number>;
    const read = record.decode(record.encode(value));
    expect(Object.getOwnPropertyDescriptor(read, "__proto__")).toEqual({
      ...{ value: 1, writable: true, enumerable: true, configurable: true },
    });
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    const twice = record.encode({ a: 1, b: 2 });
    expect(() => record.decode(twice.with(twice.length - 1, 0x61))).toThrow('the key "a" is in it twice');
  });
});

describe("blocks", () => {
  const both = (first: Codec<Uint8Array>, second: Codec<Int16Array>) =>
    codec.tuple<[Uint8Array, Int16Array]>(first, second);

  test.each([
    [bytes, shorts],
    [codec.bytes, codec.int16Array],
  ] as const)("are used for arrays from 32 KiB, and are aligned to 8 bytes", (first, second) => {
    const of = both(first, second);
    for (const size of [MIN_BLOCK_BYTES - 1, MIN_BLOCK_BYTES, MIN_BLOCK_BYTES + 1]) {
      const value: [Uint8Array, Int16Array] = [new Uint8Array(size).fill(7), new Int16Array(size >> 1).fill(-2)];
      const w = new Writer();
      of.encodeInto(w, value);
      const apart = [...value]
        .filter(({ byteLength }) => byteLength >= MIN_BLOCK_BYTES)
        .map(({ byteLength }) => byteLength);
      expect(w.blocks.map(({ byteLength }) => byteLength)).toEqual(apart);
      const whole = of.encode(value);
      assert.deepStrictEqual(of.decode(whole), value);
      const viewed = of.decode(whole, { views: true });
      assert.deepStrictEqual(viewed, value);
      expect(viewed[0].buffer).toBe(whole.buffer);
      expect(of.decode(whole)[0].buffer).not.toBe(whole.buffer);
      // In this memory the second array is not aligned.
      const odd = new Uint8Array(whole.length + 1).subarray(1);
      odd.set(whole);
      assert.deepStrictEqual(of.decode(odd, { views: true }), value);
      expect(() => of.decode(whole.slice(0, -1))).toThrow(
        size < MIN_BLOCK_BYTES ? "cannot decode" : "a block ends outside the message",
      );
      expect(() => of.decode(Uint8Array.from([...whole, 0]))).toThrow(
        size < MIN_BLOCK_BYTES ? "cannot decode" : "there are more blocks than values need",
      );
    }
    for (let start = 1; start < 8; start++) {
      const whole = of.encode([new Uint8Array(MIN_BLOCK_BYTES + 1).fill(1), new Int16Array(MIN_BLOCK_BYTES).fill(2)]);
      const behind = new Uint8Array(start + whole.length).fill(0xff, 0, start);
      behind.set(whole, start);
      const r = new Reader();
      r.reset(behind, new DataView(behind.buffer), start, behind.length);
      assert.deepStrictEqual(of.decodeFrom(r), of.decode(whole));
    }
    const padded = of.encode([new Uint8Array(MIN_BLOCK_BYTES + 1), new Int16Array(MIN_BLOCK_BYTES)]);
    const gap = padded.length - MIN_BLOCK_BYTES * 2 - 1;
    expect(() => of.decode(padded.with(gap, 1))).toThrow("padding is not zero");
  });

  test("that are passed separately belong to the value, and must match its arrays in number and size", () => {
    const of = both(codec.bytes, codec.int16Array);
    const value: [Uint8Array, Int16Array] = [
      new Uint8Array(MIN_BLOCK_BYTES).fill(3),
      new Int16Array(MIN_BLOCK_BYTES).fill(4),
    ];
    const w = new Writer();
    of.encodeInto(w, value);
    const blocks = w.blocks.map((block) => block.slice());
    const message = w.take().slice();
    const read = (apart: readonly Uint8Array[] | undefined, from = message) => {
      const r = new Reader();
      r.reset(from, new DataView(from.buffer), 0, from.length, apart);
      return of.decodeFrom(r);
    };
    assert.deepStrictEqual(read(blocks), value);
    const odd = new Uint8Array(blocks[1]!.length + 1).subarray(1);
    odd.set(blocks[1]!);
    assert.deepStrictEqual(read([blocks[0]!, odd]), value);
    const wrong = "a block is missing or has the wrong size";
    expect(() => read([])).toThrow(`[0]: ${wrong}`);
    expect(() => read([blocks[0]!])).toThrow(`[1]: ${wrong}`);
    expect(() => read([blocks[0]!, blocks[1]!.subarray(1)])).toThrow(`[1]: ${wrong}`);
    expect(() => read([...blocks, blocks[0]!])).toThrow("there are more blocks than values need");
    expect(() => read(undefined)).toThrow("the message ends too early");
    // An aligned block of a larger buffer is not copied.
    const large = new Uint8Array(blocks[1]!.length + 8);
    large.set(blocks[1]!, 8);
    expect(read([blocks[0]!, large.subarray(8)])[1].buffer).toBe(large.buffer);
    const longer = Uint8Array.from([...message, 0]);
    expect(() => read(blocks, longer)).toThrow("blocks are both in the message and apart");
    // The reader is used again for a message without separate blocks.
    const r = new Reader();
    r.reset(message, new DataView(message.buffer), 0, message.length, blocks);
    assert.deepStrictEqual(of.decodeFrom(r), value);
    const whole = of.encode(value);
    r.reset(whole, new DataView(whole.buffer), 0, whole.length);
    assert.deepStrictEqual(of.decodeFrom(r), value);
  });

  test("of memory that others can write at the same time are copied", () => {
    const shared = new Uint8Array(new SharedArrayBuffer(MIN_BLOCK_BYTES)).fill(5);
    const w = new Writer();
    codec.bytes.encodeInto(w, shared);
    shared.fill(6);
    expect(w.blocks[0]?.every((byte) => byte === 5)).toBe(true);
  });
});

describe("a message", () => {
  test.each([14, 15, 16, 17, 18, 2046, 2047, 2048, 2049, 2050])(
    "of %i bytes is decoded, also while another message is being decoded",
    (length) => {
      // Header, length and text; what is behind it in memory does not matter.
      const long = "x".repeat(length - 4 - 1 - 4 - (length > 263 ? 4 : 0));
      const encoded = codec.string.encode(long);
      expect(encoded.length).toBe(length);
      expect(codec.string.decode(encoded)).toBe(long);
      const inner = new Straight(
        codec.string,
        (w, at, value) => w.putString(at, value),
        (r, at) => codec.string.decode(encoded) + r.getString(at),
      );
      expect(inner.decode(codec.string.encode("!"))).toBe(`${long}!`);
      expect(() => codec.string.decode(encoded.slice(0, -1))).toThrow("a chunk of text ends outside the message");
    },
  );
});

describe("an error that the second attempt does not reproduce", () => {
  const cause = new TypeError("no disk");
  const failing = (put: Put<number>, get: Get<number> = (r, at) => r.view.getInt32(at, true)) =>
    new Straight(codec.int32, put, get);
  const thrown = (run: () => unknown): CodecError => {
    try {
      run();
    } catch (error) {
      return error as CodecError;
    }
    throw new Error("nothing was thrown");
  };

  test("is reported as a changed value, or as the error that was thrown first", () => {
    const changed = thrown(() => failing((w) => w.refuse()).encode(1));
    expect(changed.message).toBe("cannot encode int32: the value changed meanwhile");
    expect(changed.cause).toBeInstanceOf(CodecRefusal);
    const other = thrown(() =>
      failing(() => {
        throw cause;
      }).encode(1),
    );
    expect(other.message).toBe("cannot encode int32: no disk");
    expect(other.cause).toBe(cause);
    const said = thrown(() =>
      failing(() => {
        throw new CodecRefusal("why");
      }).encode(1),
    );
    expect(said.message).toBe("cannot encode int32: why");
  });

  test("is reported as malformed bytes", () => {
    const read = thrown(() =>
      failing(
        (w, at, value) => w.putInt32(at, value),
        (r) => r.refuse(),
      ).decode(new Uint8Array(4)),
    );
    expect(read.message).toBe("cannot decode int32: the bytes are malformed");
    expect(Object.hasOwn(read, "cause")).toBe(false);
  });

  test("has no second attempt if the refusal is final", () => {
    let times = 0;
    const huge = failing((w) => {
      times++;
      w.reserve(2 ** 31);
    });
    expect(thrown(() => huge.encode(1)).message).toBe("cannot encode int32: it takes more than 2147483640 bytes");
    expect(times).toBe(1);
    let again = 0;
    class Counting extends Straight<number> {
      override shape(): Codec<number> {
        return { write: () => again++ } as unknown as Codec<number>;
      }
    }
    const large = new Counting(
      codec.int32,
      (w) => w.reserve(2 ** 31),
      (r, at) => r.view.getInt32(at, true),
    );
    expect(thrown(() => large.encode(1)).message).toBe("cannot encode int32: it takes more than 2147483640 bytes");
    expect(again).toBe(0);
    expect(huge.shape().decode(huge.shape().encode(5))).toBe(5);
  });
});

test("a recursive generated codec refuses more than 256 levels, also on the second attempt", () => {
  interface List {
    next?: List;
  }
  class ListCodec extends GeneratedCodec<List> {
    override write(w: Writer, at: number, value: List): void {
      w.enter();
      w.view.setUint8(at, value.next === undefined ? 0 : 1);
      if (value.next !== undefined) this.write(w, w.reserve(1), value.next);
      w.leave();
    }

    override read(r: Reader, at: number): List {
      r.enter();
      const value = r.view.getUint8(at) === 0 ? {} : { next: this.read(r, r.take(1)) };
      r.leave();
      return value;
    }

    override shape(): Codec<List> {
      return codec.object<List>("List", { next: codec.optional<List>(straight) });
    }
  }
  const straight = new ListCodec("List", 1n, { slot: 1, recursive: true });
  const nested = (depth: number): List => (depth === 1 ? {} : { next: nested(depth - 1) });
  expect(straight.decode(straight.encode(nested(256)))).toEqual(nested(256));
  for (let i = 0; i < 3; i++) expect(() => straight.encode(nested(257))).toThrow(/nested deeper than 256$/);
  for (let i = 0; i < 3; i++)
    expect(() => straight.decode(new Uint8Array(257).fill(1))).toThrow(/nested deeper than 256$/);
  expect(straight.decode(straight.encode(nested(256)))).toEqual(nested(256));
});

test("appended strings and values are read in the order in which they were written", () => {
  const of = new Straight<[string, number]>(
    codec.tuple(codec.string, codec.int32),
    (w, _, [first, second]) => {
      w.string(first);
      w.append(codec.int32, second);
    },
    (r) => [r.string(), r.next(codec.int32)],
  );
  const value: [string, number] = ["é".repeat(300), -7];
  expect(of.decode(of.encode(value))).toEqual(value);
});
