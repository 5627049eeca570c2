/** The texts of errors for values of the wrong type and for invalid messages. */
import { expect, test } from "vitest";
import { type Codec, CodecError, codec } from "../../runtime/wire/index.js";

const item = codec.object("Item", { sku: codec.string, qty: codec.int32 });
const rec = codec.object("Rec", {
  id: codec.uint32,
  note: codec.optional(codec.string),
  items: codec.array(item),
  tags: codec.map(codec.string, codec.int64),
  names: codec.set(codec.string),
  counts: codec.record(codec.double),
  status: codec.enumeration("Status", ["idle", "busy", "done"]),
  pair: codec.nullable(codec.tuple(codec.boolean, codec.date)),
});
const good = {
  id: 1,
  items: [{ sku: "a", qty: 1 }],
  tags: new Map([["x", 1n]]),
  names: new Set(["n"]),
  counts: { "a b": 1 },
  status: "idle" as const,
  pair: [true, new Date(0)] as [boolean, Date],
};

/** The text of the error that encoding the good record with `changes` throws. */
function refusal(changes: Record<string, unknown>): string {
  return thrown(() => rec.encode({ ...good, ...changes } as never));
}

function thrown(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    return (error as Error).message;
  }
  return "nothing";
}

test("a record codec refuses a Map, a Set, an array and null in every layout", () => {
  for (const [value, got] of [
    [new Map([["a", 1]]), "a Map"],
    [new Set(["a"]), "a Set"],
    [[1], "an array of 1"],
    [null, "null"],
  ] as const) {
    const text = `cannot encode Rec.counts: invalid Record: expected an object, got ${got}`;
    const wrong = { ...good, counts: value } as never;
    expect(refusal({ counts: value })).toBe(text);
    expect(thrown(() => rec.toProtobuf(wrong))).toBe(text);
    expect(thrown(() => rec.toJson(wrong))).toBe(text);
  }
});

test("an error about a value of the wrong type gives its path, the expected type and the actual value", () => {
  expect(refusal({ id: -1 })).toBe(
    "cannot encode Rec.id: invalid uint32: expected an integer from 0 to 4294967295, got -1",
  );
  expect(refusal({ items: [good.items[0], { sku: "b", qty: Number.NaN }] })).toBe(
    "cannot encode Rec.items[1].qty: invalid int32: expected an integer from -2147483648 to 2147483647, got NaN",
  );
  expect(refusal({ items: [{ qty: 1 }] })).toBe(
    "cannot encode Rec.items[0].sku: invalid string: expected a string, got undefined",
  );
  expect(refusal({ items: "none" })).toBe('cannot encode Rec.items: invalid array: expected an array, got "none"');
  expect(refusal({ items: [null] })).toBe("cannot encode Rec.items[0]: invalid Item: expected an object, got null");
  expect(refusal({ note: null })).toBe("cannot encode Rec.note: invalid string: expected a string, got null");
  expect(refusal({ status: "late" })).toBe(
    'cannot encode Rec.status: invalid Status: expected "idle", "busy" or "done", got "late"',
  );
  expect(refusal({ tags: new Map([["x", 2n ** 63n]]) })).toBe(
    'cannot encode Rec.tags["x"]: invalid int64: expected a bigint from -9223372036854775808 to 9223372036854775807, got 9223372036854775808n',
  );
  expect(refusal({ tags: new Map([[5, 1n]]) })).toBe(
    "cannot encode Rec.tags.keys()[0]: invalid string: expected a string, got 5",
  );
  expect(refusal({ names: new Set(["a", Symbol.iterator]) })).toBe(
    "cannot encode Rec.names[1]: invalid string: expected a string, got a symbol",
  );
  expect(refusal({ counts: { "a b": 5n } })).toBe(
    'cannot encode Rec.counts["a b"]: invalid double: expected a number, got 5n',
  );
  expect(refusal({ pair: [true, new Date(Number.NaN)] })).toBe(
    'cannot encode Rec.pair[1]: invalid date: expected a valid Date, got "Invalid Date"',
  );
  expect(refusal({ pair: [true, new Date(0), 1] })).toBe(
    "cannot encode Rec.pair: invalid [boolean, date]: expected at most 2 elements, got an array of 3",
  );
});

test("encoding leaves out properties that the type does not declare", () => {
  expect(rec.decode(rec.encode({ ...good, more: 1 } as never))).toEqual(good);
});

test("a getter that throws is reported with the path of the property, and the thrown error is the cause", () => {
  const cause = new Error("no disk");
  const value = {
    get x(): number {
      throw cause;
    },
  };
  const type = codec.object("T", { x: codec.int32 });
  expect(thrown(() => type.encode(value))).toBe("cannot encode T.x: no disk");
  try {
    type.encode(value);
  } catch (error) {
    expect((error as Error).cause).toBe(cause);
  }
});

test("an error about an argument names the parameter", () => {
  const args = codec.parameters<[string, { qty: number }]>("Shop.put", {
    key: codec.string,
    item: codec.object("Item", { qty: codec.int32 }),
  });
  expect(thrown(() => args.encode(["a", { qty: 0.5 }]))).toBe(
    "cannot encode Shop.put(item).qty: invalid int32: expected an integer from -2147483648 to 2147483647, got 0.5",
  );
});

test("encode and decode refuse values nested deeper than 256 levels, and encode refuses circular values", () => {
  interface List {
    next?: List;
  }
  const list: Codec<List> = codec.object<List>("List", () => ({ next: codec.optional(list) }));
  const nested = (depth: number): List => (depth === 1 ? {} : { next: nested(depth - 1) });
  expect(list.decode(list.encode(nested(256)))).toEqual(nested(256));
  expect(thrown(() => list.encode(nested(257)))).toMatch(
    /^cannot encode List(\.next){12} … 232 more … (\.next){12}: nested deeper than 256$/,
  );
  const circular: List = {};
  circular.next = circular;
  expect(thrown(() => list.encode(circular))).toMatch(/nested deeper than 256$/);
  expect(thrown(() => list.decode(new Uint8Array(1000).fill(1)))).toMatch(/^cannot decode .*: nested deeper than 256$/);
});

test("decoding invalid bytes fails with the path of the field and the reason", () => {
  const bytes = rec.encode(good);
  expect(thrown(() => rec.decode(new Uint8Array(0)))).toBe("cannot decode Rec: it takes at least 23 bytes, got 0");
  expect(thrown(() => rec.decode("text" as never))).toBe('cannot decode Rec: expected a Uint8Array, got "text"');
  expect(thrown(() => rec.decode(bytes.with(4, 0x80)))).toBe("cannot decode Rec: invalid padding bits");
  expect(thrown(() => rec.decode(bytes.with(9, 200)))).toBe("cannot decode Rec.items: the message ends too early");
  expect(thrown(() => rec.decode(bytes.subarray(0, -1)))).toBe(
    "cannot decode Rec.items[0].sku: a chunk of text ends outside the message",
  );
  expect(thrown(() => codec.int32.decode(new Uint8Array(5)))).toBe(
    "cannot decode int32: there is more than the value needs",
  );
  expect(thrown(() => codec.boolean.decode(Uint8Array.of(2)))).toBe(
    "cannot decode boolean: invalid boolean: expected 0 or 1, got 2",
  );
});

test("a failed encoding leaves the writer as it was before the call", async () => {
  const { Writer } = await import("../../runtime/wire/index.js");
  const w = new Writer(64);
  codec.string.encodeInto(w, "kept");
  const before = w.bytes.slice(0, w.position);
  expect(() => rec.encodeInto(w, { ...good, pair: [1, 2] } as never)).toThrow("cannot encode Rec.pair[0]");
  expect(w.position).toBe(before.length);
  expect(w.bytes.slice(0, w.position)).toEqual(before);
  codec.string.encodeInto(w, "next");
  expect(codec.string.decode(w.bytes.slice(16, w.position))).toBe("next");
});
