/**
 * Messages of every kind of type are truncated and changed byte by byte. Each altered message is either refused with a known
 * reason, or decoded to another value that survives a second round trip.
 */
import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Codec, CodecError, codec, setWireEnvironment, type WireEnvironment } from "../../runtime/wire/index.js";
import { samplesOf } from "./samples.js";

/** Writes each handle as its name. */
const named: WireEnvironment = {
  writePort: (w, port) => w.string(port as string),
  readPort: (r) => r.string(),
  writeMesh: (w, mesh) => w.string(mesh as string),
  readMesh: (r) => r.string(),
  writeBuffer: (w, buffer) => w.string(buffer as string),
  readBuffer: (r) => r.string(),
  writeTensor: (w, tensor) => w.string(tensor as string),
  readTensor: (r) => r.string(),
  writeObjectRef: (w, ref) => w.string(ref as string),
  readObjectRef: (r) => r.string(),
};
beforeEach(() => setWireEnvironment(named));
afterEach(() => setWireEnvironment(undefined));

interface Tree {
  name: string;
  children: Tree[];
  parent?: Tree;
}
const tree: Codec<Tree> = codec.object<Tree>("Tree", () => ({
  name: codec.string,
  children: codec.array(tree),
  parent: codec.optional(tree),
}));
const color = codec.enumeration("Color", ["red", "green", "blue"], { numbers: [1, 5, 300] });
const level = codec.enumeration("Level", [0, 1, 2]);
const point = codec.object("Point", { x: codec.double, y: codec.double });
const scalars = codec.object("Scalars", {
  ...{ flag: codec.boolean, double: codec.double, float: codec.float32, date: codec.date },
  ...{ int32: codec.int32, sint32: codec.sint32, sfixed32: codec.sfixed32, uint32: codec.uint32 },
  ...{ fixed32: codec.fixed32, int64: codec.int64, sint64: codec.sint64, sfixed64: codec.sfixed64 },
  ...{ uint64: codec.uint64, fixed64: codec.fixed64, string: codec.string, bytes: codec.bytes },
});
const optional = codec.object(
  "Optional",
  Object.fromEntries(
    [codec.boolean, codec.string, codec.double, color, point, codec.array(codec.boolean), codec.bytes].flatMap(
      (inner, i): [string, Codec<unknown>][] => [
        [`o${i}`, codec.optional<unknown>(inner)],
        [`n${i}`, codec.nullable<unknown>(inner)],
        [`b${i}`, codec.optional(codec.nullable<unknown>(inner))],
      ],
    ),
  ),
);
const typed = codec.object("Typed", {
  ...{ int8: codec.int8Array, clamped: codec.uint8ClampedArray, int16: codec.int16Array, uint16: codec.uint16Array },
  ...{ int32: codec.int32Array, uint32: codec.uint32Array, int64: codec.bigInt64Array, uint64: codec.bigUint64Array },
  ...{ float32: codec.float32Array, float64: codec.float64Array },
});
const choice = codec.oneof("Choice", () => ({
  number: codec.uint32,
  text: codec.string,
  point,
  list: codec.array(level),
}));
const shape = codec.union<{ kind: string }>("Shape", "kind", () => ({
  circle: codec.object("", { r: codec.double }),
  square: codec.object("", { a: codec.double, label: codec.optional(codec.string) }),
}));

const codecs: readonly Codec<unknown>[] = [
  scalars,
  optional,
  typed,
  tree,
  choice,
  shape,
  codec.object(
    "Flat",
    { id: codec.uint32, choice, other: codec.optional(codec.oneof("", () => ({ z: codec.string }), { numbers: [9] })) },
    { numbers: [7, 0, 0], flat: ["choice", "other"] },
  ),
  codec.object("Empty", {}),
  codec.object(
    "Unpacked",
    { list: codec.array(codec.int32), colors: codec.array(color) },
    { unpacked: ["list", "colors"] },
  ),
  codec.array(codec.double),
  codec.array(codec.sint64),
  codec.array(codec.boolean),
  codec.array(codec.array(codec.string)),
  codec.array(codec.nullable(codec.uint32)),
  codec.set(codec.string),
  codec.map(codec.string, point),
  codec.map(codec.int32, codec.string),
  codec.map(codec.double, color),
  codec.map(point, codec.boolean),
  codec.record(codec.optional(codec.int32)),
  codec.tuple(codec.int32, codec.optional(codec.string)),
  codec.tupleWithRest([codec.string], codec.uint32),
  codec.parameters("call", { first: codec.uint64, second: codec.optional(codec.date) }, { numbers: [4, 2] }),
  ...[
    color,
    level,
    codec.date,
    codec.bytes,
    codec.nullable(codec.boolean),
    codec.optional(codec.nullable(codec.string)),
    codec.lazy(() => shape),
  ],
  ...[codec.value, codec.struct, codec.listValue, codec.nullValue, codec.timestamp, codec.any, codec.stringValue],
  codec.object("Handles", {
    port: codec.port(() => point),
    buffer: codec.rdmaBuffer(),
    tensor: codec.tensor(),
    ref: codec.objectRef(() => point),
  }),
];

/** All reasons for which altered bytes may be refused. */
const reasons = {
  decode: [
    /^it takes at least \d+ bytes, got \d+$/,
    /^the message ends too early$/,
    /^the string heap starts outside the message$/,
    /^the blocks start outside the message$/,
    /^a block ends outside the message$/,
    /^there is less text than strings need$/,
    /^there is more text than strings need$/,
    /^there is more than the value needs$/,
    /^there are more blocks than values need$/,
    /^a string crosses the end of a chunk of text$/,
    /^a chunk of text ends outside the message$/,
    /^a chunk of text has the wrong size$/,
    /^padding is not zero$/,
    /^invalid padding bits$/,
    /^invalid presence bits$/,
    /^invalid length: \d+ in the long form$/,
    /^invalid (Map: the key|Set:) .+ is in it twice$/,
    /^invalid [A-Z].*: there is more than it needs$/,
    /^invalid (boolean|NullValue|.+ \| (null|undefined)): expected 0( or 1)?, got \d+$/,
    /^invalid (Color|Choice|Shape|oneof): expected a number below \d, got \d+$/,
    /^invalid Level: expected a number up to 2, got \d+$/,
    /^invalid JsonValue: expected a number from 1 to 7, got \d+$/,
    /^invalid date: expected whole milliseconds from -8.64e15 to 8.64e15, got .+$/,
  ],
  fromProtobuf: [
    /^the message ends too early$/,
    /^a length goes past the end of the message$/,
    /^a field goes past the end of its message$/,
    /^invalid varint: it has more than 10 bytes$/,
    /^invalid tag: (field number 0|wire type [67]|it has more than 32 bits)$/,
    /^invalid group: group \d+ (does not end|ends where it did not begin|ends where another one began)$/,
    /^invalid packed field: \d+ bytes are not whole elements$/,
    /^the last element of a packed field goes past its end$/,
    /^invalid string: expected UTF-8$/,
    /^invalid \w+Array: -?\d+ is not in the range of its elements$/,
    /^invalid date: expected a time from -8.64e15 to 8.64e15 ms$/,
    /^invalid (Choice|Shape|oneof): expected ("\w+", )*"\w+"( or "\w+")?, got none of them$/,
    /^invalid (Port<Point>|RdmaBuffer|Tensor|ObjectRef<Point>): it is missing, and has no default$/,
    /^it is missing, and has no default$/,
    // Errors in the state of a handle.
    /^there are more blocks than values need$/,
    /^the string heap starts outside the message$/,
    /^the blocks start outside the message$/,
    /^there is more text than strings need$/,
    /^a chunk of text ends outside the message$/,
    /^a chunk of text has the wrong size$/,
  ],
} as const;

describe.each([
  ["encode", "decode"],
  ["toProtobuf", "fromProtobuf"],
] as const)("altered bytes of %s are refused or decoded to another valid value", (write, read) => {
  test.each(codecs.map((codec): [string, Codec<unknown>] => [codec.name, codec]))("for the type %s", (_, of) => {
    for (const value of samplesOf(of)) {
      const bytes = of[write](value);
      assert.deepStrictEqual(of[read](bytes), value);
      for (const other of altered(bytes)) {
        const result = outcome(() => of[read](other));
        if ("reason" in result) {
          expect(
            reasons[read].some((reason) => reason.test(result.reason)),
            result.reason,
          ).toBe(true);
        } else {
          const again = outcome(() => of[write](result.value));
          // Lone surrogates can be decoded, but not encoded.
          if ("reason" in again) expect(again.reason).toContain("lone surrogates");
          else assert.deepStrictEqual(of[read](again.value as Uint8Array), result.value);
        }
      }
    }
  });
});

type Outcome = { readonly value: unknown } | { readonly reason: string };

function outcome(run: () => unknown): Outcome {
  try {
    return { value: run() };
  } catch (error) {
    expect(error).toBeInstanceOf(CodecError);
    return { reason: (error as CodecError).reason };
  }
}

/** Yields truncated messages, messages with one byte changed (in long messages only some bytes), and longer ones. */
function* altered(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += at < 80 ? 1 : 17) {
    yield bytes.slice(0, at);
    for (const byte of [0, 1, 0x7f, 0xff, bytes[at]! ^ 1, bytes[at]! ^ 0x80, bytes[at]! + 1, bytes[at]! + 8])
      yield bytes.with(at, byte);
  }
  yield Uint8Array.from([...bytes, 0]);
  yield Uint8Array.from([...bytes, 0x0b]);
}
