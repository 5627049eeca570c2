/** Hostile bytes: each input has a defined result. */
import { expect, test } from "vitest";
import { type Codec, codec, unknownFields } from "../../../runtime/wire/index.js";
import { concat, field, hex, messageOf, toHex } from "./message-bytes.js";

interface Leaf {
  n: number;
  text: string;
  big: bigint;
  yes: boolean;
  list: number[];
  doubles: number[];
  inner?: Leaf;
}

const leaf: Codec<Leaf> = codec.object<Leaf>("Leaf", () => ({
  n: codec.int32,
  text: codec.string,
  big: codec.uint64,
  yes: codec.boolean,
  list: codec.array(codec.int32),
  doubles: codec.array(codec.double),
  inner: codec.optional(leaf),
}));

const refused = (bytes: Uint8Array, of: Codec<never> = leaf as never) => messageOf(() => of.fromProtobuf(bytes));
const read = (text: string) => leaf.fromProtobuf(hex(text));

test("truncated bytes are refused, except at the end of a field", () => {
  const whole = leaf.toProtobuf({
    n: -1,
    text: "text",
    big: 2n ** 63n,
    yes: true,
    list: [1, 300],
    doubles: [0.5],
    inner: { n: 1, text: "é", big: 0n, yes: false, list: [], doubles: [] },
  });
  const ends = new Set([11, 17, 28, 30, 35, 45]);
  for (let end = 1; end < whole.length; end++) {
    const cut = whole.slice(0, end);
    const fields = messageOf(() => leaf.fromProtobuf(cut));
    // Bytes that end at the end of a field are a valid message.
    if (fields === "nothing") expect(ends).toContain(end);
    else expect(fields).toMatch(/^CodecError: cannot decode Leaf/);
  }
  expect(refused(hex("08"))).toBe("CodecError: cannot decode Leaf.n: the message ends too early");
  expect(refused(hex("08ff"))).toBe("CodecError: cannot decode Leaf.n: the message ends too early");
  expect(refused(hex("0880"))).toBe("CodecError: cannot decode Leaf.n: the message ends too early");
  expect(refused(hex("80"))).toBe("CodecError: cannot decode Leaf: the message ends too early");
});

test("a varint has at most 10 bytes", () => {
  expect(read("08 80 80 80 80 80 80 80 80 80 00").n).toBe(0);
  expect(read("08 81 80 80 80 80 80 80 80 80 00").n).toBe(1);
  expect(read("08 ff ff ff ff ff ff ff ff ff 01").n).toBe(-1);
  expect(refused(hex("08 80 80 80 80 80 80 80 80 80 80 00"))).toBe(
    "CodecError: cannot decode Leaf.n: invalid varint: it has more than 10 bytes",
  );
  expect(refused(concat(hex("f8 07"), hex("80 80 80 80 80 80 80 80 80 80 01")))).toBe(
    "CodecError: cannot decode Leaf: invalid varint: it has more than 10 bytes",
  );
});

test("varints are cut to 32 or 64 bits, and a boolean is true if any bit is set", () => {
  expect(read("08 81 80 80 80 f0 ff ff ff ff 01").n).toBe(1);
  expect(read("08 ff ff ff ff 7f").n).toBe(-1);
  expect(read("18 ff ff ff ff ff ff ff ff ff 7f").big).toBe(2n ** 64n - 1n);
  for (const bits of ["02", "80 80 80 80 10", "80 80 80 80 80 80 80 80 80 01"])
    expect(read(`20 ${bits}`).yes).toBe(true);
  expect(read("20 80 00").yes).toBe(false);
});

test("tags with an invalid field number or wire type are refused", () => {
  const invalid = "CodecError: cannot decode Leaf: invalid tag: ";
  expect(refused(hex("00 00"))).toBe(`${invalid}field number 0`);
  expect(refused(hex("02 00"))).toBe(`${invalid}field number 0`);
  expect(refused(hex("80 00 00"))).toBe(`${invalid}field number 0`);
  expect(refused(hex("0e 00"))).toBe(`${invalid}wire type 6`);
  expect(refused(hex("0f 00"))).toBe(`${invalid}wire type 7`);
  expect(refused(hex("f8 ff ff ff 1f 00"))).toBe(`${invalid}it has more than 32 bits`);
  // The largest tag, and a tag in a longer form than necessary, are valid.
  expect(toHex(read("f8 ff ff ff 0f 01")[unknownFields as never])).toBe("f8ffffff0f01");
  expect(read("88 80 00 05").n).toBe(5);
});

test("a field with the wrong wire type is kept as an unknown field", () => {
  for (const bytes of ["0a 01 41", "0d 01 02 03 04", "09 01 02 03 04 05 06 07 08", "10 07", "0b 0c"]) {
    const value = read(bytes);
    expect(value).toMatchObject({ n: 0, text: "" });
    expect(value[unknownFields as never]).toEqual(hex(bytes));
    expect(leaf.toProtobuf(value)).toEqual(hex(bytes));
  }
});

test("a length past the end of its message is refused", () => {
  const past = "a length goes past the end of the message";
  expect(refused(hex("12 ff ff ff ff 0f"))).toBe(`CodecError: cannot decode Leaf.text: ${past}`);
  expect(refused(hex("2a ff ff ff 7f 01"))).toBe(`CodecError: cannot decode Leaf.list: ${past}`);
  expect(refused(hex("32 80 80 80 80 04 01"))).toBe(`CodecError: cannot decode Leaf.doubles: ${past}`);
  expect(refused(hex("3a 05 12 03 61"))).toBe(`CodecError: cannot decode Leaf.inner: ${past}`);
  // These fields end within the whole message, but past the end of the inner one.
  expect(refused(hex("3a 02 12 03 61 62 63"))).toBe(
    "CodecError: cannot decode Leaf.inner: a field goes past the end of its message",
  );
  expect(refused(hex("3a 01 08 01"))).toBe(
    "CodecError: cannot decode Leaf.inner: a field goes past the end of its message",
  );
});

test("a packed field must contain whole elements", () => {
  expect(read("2a 00 32 00")).toMatchObject({ list: [], doubles: [] });
  expect(refused(hex("32 07 01 02 03 04 05 06 07"))).toBe(
    "CodecError: cannot decode Leaf.doubles: invalid packed field: 7 bytes are not whole elements",
  );
  expect(refused(hex("2a 02 01 80 01"))).toBe(
    "CodecError: cannot decode Leaf.list: the last element of a packed field goes past its end",
  );
  const floats = codec.float32Array;
  expect(messageOf(() => floats.fromProtobuf(hex("0a 03 00 00 00")))).toBe(
    "CodecError: cannot decode Float32Array: invalid packed field: 3 bytes are not whole elements",
  );
  expect(messageOf(() => codec.int8Array.fromProtobuf(hex("0a 02 80 02")))).toBe(
    "CodecError: cannot decode Int8Array: invalid Int8Array: 128 is not in the range of its elements",
  );
});

test("strings must be valid UTF-8", () => {
  for (const bad of ["ff", "c3", "c0 80", "ed a0 80", "f4 90 80 80", "e2 82", "41 42 80 43"]) {
    const bytes = field(2, hex(bad));
    expect(refused(bytes)).toBe("CodecError: cannot decode Leaf.text: invalid string: expected UTF-8");
    const long = field(2, concat(Buffer.from("x".repeat(600)), hex(bad)));
    expect(refused(long)).toBe("CodecError: cannot decode Leaf.text: invalid string: expected UTF-8");
  }
  const replacement = "\ufffd and \ufeff\u0000 stay";
  expect(leaf.fromProtobuf(field(2, Buffer.from(replacement))).text).toBe(replacement);
});

test("messages and groups nest at most 256 levels", () => {
  const deep = (levels: number): Uint8Array => {
    let bytes: Uint8Array = new Uint8Array(0);
    for (let i = 0; i < levels; i++) bytes = field(7, bytes);
    return bytes;
  };
  expect(messageOf(() => leaf.fromProtobuf(deep(256)))).toBe("nothing");
  const tooDeep = /^CodecError: cannot decode Leaf(\.inner){12} … 233 more … (\.inner){12}: nested deeper than 256$/;
  expect(refused(deep(257))).toMatch(tooDeep);
  expect(refused(deep(2000))).toMatch(tooDeep);

  const groups = (levels: number) => concat(new Uint8Array(levels).fill(0x0b), new Uint8Array(levels).fill(0x0c));
  expect(messageOf(() => leaf.fromProtobuf(groups(256)))).toBe("nothing");
  expect(refused(groups(257))).toBe("CodecError: cannot decode Leaf: nested deeper than 256");
  expect(refused(groups(1_000_000))).toBe("CodecError: cannot decode Leaf: nested deeper than 256");
  expect(refused(field(7, groups(256)))).toBe("CodecError: cannot decode Leaf.inner: nested deeper than 256");
});

test("a circular value is refused, since it nests deeper than 256 levels", () => {
  const value: Leaf = { n: 0, text: "", big: 0n, yes: false, list: [], doubles: [] };
  value.inner = value;
  expect(messageOf(() => leaf.toProtobuf(value))).toMatch(/^CodecError: cannot encode Leaf.*: nested deeper than 256$/);
});

test("groups are kept as unknown fields, and malformed groups are refused", () => {
  const group = hex("0b 08 01 13 12 02 61 62 14 1d 01 02 03 04 0c");
  const value = leaf.fromProtobuf(concat(hex("08 05"), group, hex("20 01")));
  expect(value).toMatchObject({ n: 5, yes: true });
  expect(value[unknownFields as never]).toEqual(group);
  expect(refused(hex("0b 08 01"))).toBe("CodecError: cannot decode Leaf: invalid group: group 1 does not end");
  expect(refused(hex("0b 13 0c 14"))).toBe(
    "CodecError: cannot decode Leaf: invalid group: group 1 ends where another one began",
  );
  expect(refused(hex("08 01 0c"))).toBe(
    "CodecError: cannot decode Leaf: invalid group: group 1 ends where it did not begin",
  );
  expect(refused(hex("0b 04 0c"))).toBe("CodecError: cannot decode Leaf: invalid tag: field number 0");
  // The end of its message cuts this group.
  expect(refused(hex("3a 01 0b 0c"))).toBe(
    "CodecError: cannot decode Leaf.inner: a field goes past the end of its message",
  );
});

test("a map of a million entries with 128 distinct keys is read as 128 entries", () => {
  const map = codec.map(codec.uint32, codec.uint32);
  const bytes = repeated(hex("0a 04 08 00 10 01"), 1_000_000);
  // The keys are the numbers from 0 to 127, over and over.
  for (let i = 0; i < 1_000_000; i++) bytes[i * 6 + 3] = i % 128;
  expect(map.fromProtobuf(bytes).size).toBe(128);
});

test("many parts of a message are merged in time that grows linearly with the bytes", () => {
  const typed = codec.object("Typed", {
    inner: codec.object("Inner", { a: codec.float64Array, b: codec.array(codec.int32) }),
  });
  const one = field(1, concat(hex("09 00 00 00 00 00 00 f0 3f"), hex("10 07"), hex("f8 07 01")));
  const count = 100_000;
  const { inner } = typed.fromProtobuf(repeated(one, count));
  expect(inner.a.length).toBe(count);
  expect(inner.a[count - 1]).toBe(1);
  expect(inner.b.length).toBe(count);
  expect((inner as { [unknownFields]?: Uint8Array })[unknownFields]?.length).toBe(count * 3);

  const tuple = codec.object("Tuples", { t: codec.tupleWithRest<[number, ...number[]]>([codec.uint32], codec.uint32) });
  const part = field(1, hex("08 01 10 02"));
  expect(tuple.fromProtobuf(repeated(part, count)).t.length).toBe(count + 1);
}, 20_000);

test("fromProtobuf refuses a value that is not a Uint8Array", () => {
  expect(messageOf(() => leaf.fromProtobuf("08" as never))).toBe(
    'CodecError: cannot decode Leaf: expected a Uint8Array, got "08"',
  );
});

test("a message inside a larger buffer ends at its own end", () => {
  const large = concat(hex("ff ff"), hex("08 05"), hex("12 01 41"));
  expect(leaf.fromProtobuf(large.subarray(2, 4))).toMatchObject({ n: 5, text: "" });
  // Bytes of an earlier message in the same memory are not read.
  leaf.fromProtobuf(hex("08 01 12 03 61 62 63"));
  expect(refused(hex("08 01 12"))).toBe("CodecError: cannot decode Leaf.text: the message ends too early");
});

function repeated(part: Uint8Array, times: number): Uint8Array {
  const whole = new Uint8Array(part.length * times);
  for (let i = 0; i < times; i++) whole.set(part, i * part.length);
  return whole;
}

test("a group that contains the field number 0 is refused", () => {
  const none = codec.object("None", {});
  for (const bytes of ["0b 03 0c", "0b 04 0c"])
    expect(messageOf(() => none.fromProtobuf(hex(bytes)))).toBe(
      "CodecError: cannot decode None: invalid tag: field number 0",
    );
});
