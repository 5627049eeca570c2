/** Messages between processes with different schemas: values that the lockstep layout cannot represent are recognized. */
import { beforeEach, describe, expect, test } from "vitest";
import { type Codec, CodecError, codec, Reader, unknownFields, Writer } from "../../../runtime/wire/index.js";
import { hasRead } from "../../../runtime/wire/protobuf/has-read.js";
import { losesInLockstep, mayBeNewer } from "../../../runtime/wire/protobuf/newer-values.js";
import { decodeValue, protobufArguments, protobufValue } from "../../../runtime/wire/protobuf-messages.js";
import { hex } from "./message-bytes.js";

interface Tree {
  children: Tree[];
}
const tree: Codec<Tree> = codec.object<Tree>("Tree", () => ({ children: codec.array(tree) }));
const point = codec.object("Point", { x: codec.int32 });
const old = { x: 1 };
const newer = { x: 1, [unknownFields]: hex("f8 07 01") };
const shape = codec.union("Shape", "kind", () => ({ dot: point, line: codec.object("", { to: point }) }));
const choice = codec.oneof("Choice", () => ({ n: codec.int32, point }));
/** A foreign codec, of which only the kind (a message) is known. */
const foreign = { name: "Foreign", encodeInto() {}, position: { kind: "message" } } as unknown as Codec<unknown>;

/** The state before any message is read. */
const atFirst = { ...hasRead };

beforeEach(() => {
  hasRead.messages = true;
  hasRead.unknownFields = true;
});

describe("the lockstep layout would lose unknown fields", () => {
  test.each<[string, Codec<unknown>, unknown, unknown]>([
    ["of a message", point, old, newer],
    ["of a member", codec.object("A", { n: codec.int32, p: point }), { n: 1, p: old }, { n: 1, p: newer }],
    ["of an optional member", codec.object("A", { p: codec.optional(point) }), {}, { p: newer }],
    ["of a nullable message", codec.nullable(point), null, newer],
    ["of an optional message", codec.optional(point), undefined, newer],
    ["of an element", codec.array(point), [old, old], [old, newer]],
    ["of an element of a set", codec.set(point), new Set([old]), new Set([old, newer])],
    ["of a value of a map", codec.map(codec.string, point), new Map([["a", old]]), new Map([["a", newer]])],
    ["of a key of a map", codec.map(point, codec.string), new Map([[old, "a"]]), new Map([[newer, "a"]])],
    [
      "of a map key beside values of a message type",
      codec.map(point, point),
      new Map([[old, old]]),
      new Map([[newer, old]]),
    ],
    [
      "of a map value beside keys of a message type",
      codec.map(point, point),
      new Map([[old, old]]),
      new Map([[old, newer]]),
    ],
    ["of a value of a record", codec.record(point), { a: old }, { a: old, b: newer }],
    ["of an element of a tuple", codec.tuple(codec.int32, codec.optional(point)), [1], [1, newer]],
    ["of an argument", codec.parameters("call", { a: point, b: point }), [old, old], [old, newer]],
    ["of the rest of a tuple", codec.tupleWithRest([codec.int32], point), [1, old], [1, old, newer]],
    ["of a variant", shape, { kind: "dot", x: 1 }, { kind: "dot", ...newer }],
    ["of a member of a variant", shape, { kind: "line", to: old }, { kind: "line", to: newer }],
    ["of a case", choice, { case: "point", value: old }, { case: "point", value: newer }],
    ["of a oneof", choice, { case: "n", value: 1 }, { case: "n", value: 1, [unknownFields]: hex("f8 07 01") }],
    ["of a type with a lazy codec", codec.lazy(() => point), old, newer],
    [
      "deep inside a recursive type",
      tree,
      { children: [{ children: [] }] },
      { children: [{ children: [{ children: [], ...newer }] }] },
    ],
    ["of a message with a foreign codec", codec.array(foreign), [old], [newer]],
    ["of an element behind null", codec.array(codec.nullable(point)), [null, old], [null, newer]],
    ["of an element behind an absent one", codec.array(codec.optional(point)), [undefined, old], [undefined, newer]],
    [
      "of a field beside a nullable scalar field",
      codec.object("A", { n: codec.nullable(codec.int32), p: point }),
      { n: 1, p: old },
      { n: 1, p: newer },
    ],
    [
      "of a key in the second map of a list",
      codec.array(codec.map(point, codec.string)),
      [new Map([[old, "a"]]), new Map([[old, "a"]])],
      [new Map([[old, "a"]]), new Map([[newer, "a"]])],
    ],
    [
      "of a case behind a case with a scalar",
      codec.array(choice),
      [{ case: "n", value: 1 }],
      [
        { case: "n", value: 1 },
        { case: "point", value: newer },
      ],
    ],
  ])("%s", (_, of, without, having) => {
    const encoder = of as Codec<unknown>;
    expect(losesInLockstep(encoder, without)).toBe(false);
    expect(losesInLockstep(encoder, having)).toBe(true);
    // The second call uses what the first one found out about the type.
    expect(losesInLockstep(encoder, having)).toBe(true);
    expect(losesInLockstep({ encodeInto() {}, plain: encoder } as never, having)).toBe(true);
    hasRead.unknownFields = false;
    expect(losesInLockstep(encoder, having)).toBe(false);
  });

  test("but not of values without any, of scalars, or of values of the wrong type", () => {
    for (const of of [codec.int32, codec.enumeration("E", ["a"]), codec.array(codec.string), codec.record(codec.int32)])
      expect(losesInLockstep(of as Codec<unknown>, newer)).toBe(false);
    expect(losesInLockstep(codec.tuple(codec.int32) as Codec<unknown>, [newer])).toBe(false);
    expect(losesInLockstep({ encodeInto() {} }, newer)).toBe(false);
    for (const wrong of [null, undefined, 5, "x", { kind: "none" }, { case: "none" }, [null]]) {
      for (const of of [point, shape, choice, codec.array(point), codec.map(point, point), codec.tuple(point)])
        expect(losesInLockstep(of as Codec<unknown>, wrong)).toBe(false);
    }
    const unknown = { kind: "$unknown", [unknownFields]: hex("f8 07 01") };
    expect(losesInLockstep(shape as Codec<unknown>, unknown)).toBe(true);
    expect(losesInLockstep(shape as Codec<unknown>, { kind: "$unknown" })).toBe(false);
  });
});

test("hasRead is false for messages and unknown fields before any message is read", () => {
  expect(atFirst).toEqual({ messages: false, unknownFields: false });
});

test("a lockstep refusal may come from a newer value only after a protobuf message was read", () => {
  const refusal = new CodecError("encode", "Color", "why");
  expect(mayBeNewer(refusal)).toBe(true);
  expect(mayBeNewer(new Error("why"))).toBe(false);
  hasRead.messages = false;
  expect(mayBeNewer(refusal)).toBe(false);
  point.fromProtobuf(hex("08 01"));
  expect(mayBeNewer(refusal)).toBe(true);
});

test("reading an unknown field sets hasRead.unknownFields, and reading known fields does not", () => {
  hasRead.unknownFields = false;
  point.fromProtobuf(hex("08 01"));
  expect(hasRead.unknownFields).toBe(false);
  point.fromProtobuf(hex("f8 07 01"));
  expect(hasRead.unknownFields).toBe(true);
});

describe("values in the protobuf layout", () => {
  const written = (layout: { encodeInto(w: Writer, value: unknown): void }, value: unknown) => {
    const w = new Writer();
    w.reserve(3);
    w.bytes.fill(0, 0, 3);
    layout.encodeInto(w, value);
    return w.take();
  };
  const reader = (bytes: Uint8Array, blocks?: readonly Uint8Array[]) => {
    const r = new Reader();
    r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 3, bytes.length, blocks);
    r.protobuf = true;
    return r;
  };

  test("arguments are one message, and a single value is a message with one field", () => {
    const args = codec.parameters("call", { n: codec.uint32 }, { numbers: [2] }) as Codec<unknown>;
    expect([...written(protobufArguments(args), [5])]).toEqual([0, 0, 0, 0x10, 5]);
    expect(protobufArguments(args).decodeFrom(reader(written(protobufArguments(args), [5])))).toEqual([5]);
    const value = codec.uint32 as Codec<unknown>;
    expect([...written(protobufValue(value), 5)]).toEqual([0, 0, 0, 0x08, 5]);
    expect(decodeValue(value, reader(written(protobufValue(value), 5)))).toBe(5);
    expect(protobufArguments(args)).toBe(protobufArguments(args));
    expect(protobufValue(value)).toBe(protobufValue(value));
    expect(protobufValue(args)).not.toBe(protobufArguments(args));
  });

  test("a message with separate blocks is refused", () => {
    const bytes = written(protobufValue(codec.uint32 as Codec<unknown>), 5);
    expect(() => protobufValue(codec.uint32 as Codec<unknown>).decodeFrom(reader(bytes, []))).toThrow(
      "cannot decode [uint32]: the protobuf layout has no blocks beside the message",
    );
  });

  test("decodeValue reads a lockstep message in the lockstep layout", () => {
    const bytes = codec.uint32.encode(7);
    const r = new Reader();
    r.reset(bytes, new DataView(bytes.buffer), 0, bytes.length);
    expect(decodeValue(codec.uint32 as Codec<unknown>, r)).toBe(7);
  });
});
