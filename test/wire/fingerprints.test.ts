/** Fingerprints of composed codecs: hashes, which both sides of a connection compare. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sha256First64 } from "../../runtime/wire/fingerprint.js";
import { type Codec, codec } from "../../runtime/wire/index.js";

const expected = (text: string) => BigInt(`0x${createHash("sha256").update(text).digest("hex").slice(0, 16)}`);
const hex = (of: Codec<unknown>) => of.fingerprint.toString(16).padStart(16, "0");

test("the hash equals SHA-256 for texts of every length up to three blocks", () => {
  for (let length = 0; length <= 192; length++) {
    const text = "é".repeat(length % 3) + "abcdefghij".repeat(20).slice(0, length);
    expect(sha256First64(text), text).toBe(expected(text));
  }
});

describe("the fingerprint of a codec", () => {
  const leaf = codec.object("Leaf", { n: codec.int32, 'a"b': codec.optional(codec.string) });
  const texts: readonly (readonly [Codec<unknown>, string])[] = [
    [codec.int32, "int32"],
    [codec.bytes, "bytes"],
    [codec.int8Array, "int8array"],
    [codec.uint8ClampedArray, "uint8clampedarray"],
    [codec.int16Array, "int16array"],
    [codec.uint16Array, "uint16array"],
    [codec.int32Array, "int32array"],
    [codec.uint32Array, "uint32array"],
    [codec.bigInt64Array, "bigint64array"],
    [codec.bigUint64Array, "biguint64array"],
    [codec.float32Array, "float32array"],
    [codec.float64Array, "float64array"],
    [leaf, `message Leaf{n:${hex(codec.int32)},a\\"b?:${hex(codec.string)}}`],
    [codec.lazy(() => leaf), `message Leaf{n:${hex(codec.int32)},a\\"b?:${hex(codec.string)}}`],
    [codec.array(leaf), `array(${hex(leaf)})`],
    [codec.set(codec.int32), `set(${hex(codec.int32)})`],
    [codec.map(codec.string, leaf), `map(${hex(codec.string)},${hex(leaf)})`],
    [codec.record(leaf), `record(${hex(leaf)})`],
    [codec.nullable(leaf), `nullable(${hex(leaf)})`],
    [codec.optional(leaf), `optional(${hex(leaf)})`],
    [codec.tuple(codec.int32, codec.optional(leaf)), `tuple(${hex(codec.int32)},${hex(leaf)}?)`],
    [codec.tupleWithRest([codec.int32], leaf), `tuple(${hex(codec.int32)},...${hex(leaf)})`],
    [codec.enumeration("E", ["a", 'b"']), 'enum E{"a","b\\""}'],
    [codec.enumeration("Level", [0, 1, 2]), "enum Level{0,1,2}"],
    [
      codec.union("U", "kind", () => ({ x: leaf, y: codec.object("", {}) })),
      `union U(kind){"x":${hex(leaf)},"y":${hex(codec.object("", {}))}}`,
    ],
    [codec.oneof("O", () => ({ x: leaf, y: codec.int32 })), `oneof O{x:${hex(leaf)},y:${hex(codec.int32)}}`],
    [codec.port(() => leaf), `port(${hex(leaf)})`],
    [codec.mesh(() => ({ name: "Counter" }) as never), "mesh(Counter,*)"],
    [codec.mesh(() => ({ name: "Counter" }) as never, ["hosts", "gpus"]), "mesh(Counter,hosts,gpus)"],
    [codec.rdmaBuffer(), "rdmaBuffer"],
    [codec.tensor(), "tensor"],
    [codec.objectRef(() => leaf), "objectRef"],
    [codec.value, "google.protobuf.Value"],
    [codec.struct, "google.protobuf.Struct"],
    [codec.listValue, "google.protobuf.ListValue"],
    [codec.nullValue, "google.protobuf.NullValue"],
    [codec.timestamp, "google.protobuf.Timestamp"],
    [codec.any, "google.protobuf.Any"],
  ];

  test.each(texts)("is the hash of the description in row %#", (of, text) => {
    expect(of.fingerprint, of.name).toBe(expected(text));
  });
});

test("a generic type makes one codec per list of arguments, and its fingerprint hashes those of the arguments", () => {
  let made = 0;
  const pair = codec.generic(5n, (a: Codec<unknown>, b: Codec<unknown>) => {
    made++;
    return codec.tuple(a, b);
  });
  const both = pair(codec.int32, codec.string);
  expect(both.fingerprint).toBe(expected(`apply(0000000000000005,${hex(codec.int32)},${hex(codec.string)})`));
  expect(pair(codec.int32, codec.string)).toBe(both);
  expect(made).toBe(1);
  const others = [pair(codec.string, codec.int32), pair(codec.int32, codec.int32), pair(codec.string, codec.string)];
  expect(new Set([both, ...others]).size).toBe(4);
  const none = codec.generic(6n, () => codec.object("None", {}));
  expect(none()).toBe(none());
  expect(none().fingerprint).toBe(expected("apply(0000000000000006)"));
});
