/** Handles in the protobuf layout, and messages that are read or written while another one is. */
import { afterEach, expect, test } from "vitest";
import {
  codec,
  type Reader,
  setWireEnvironment,
  type WireEnvironment,
  type Writer,
} from "../../../runtime/wire/index.js";
import { concat, field, hex, messageOf } from "./message-bytes.js";

afterEach(() => setWireEnvironment(undefined));

/** Writes each port as its name. */
const named: WireEnvironment = {
  writePort(w: Writer, port: unknown) {
    if (typeof port !== "string") throw new Error("expected a port");
    w.string(port);
  },
  readPort: (r: Reader) => r.string(),
  writeMesh() {
    throw new Error("there are no meshes here");
  },
  readMesh() {
    throw new Error("there are no meshes here");
  },
};

const port = codec.port<string>(() => codec.int32);

test("a port is a message that contains its state in the lockstep layout", () => {
  setWireEnvironment(named);
  const holder = codec.object("Holder", { port, after: codec.int32 });
  const bytes = holder.toProtobuf({ port: "p", after: 5 });
  const state = port.encode("p");
  expect(bytes).toEqual(concat(field(1, field(1, state)), hex("10 05")));
  expect(holder.fromProtobuf(bytes)).toStrictEqual({ port: "p", after: 5 });
  expect(messageOf(() => holder.toProtobuf({ port: 1 as never, after: 5 }))).toBe(
    "CodecError: cannot encode Holder.port: expected a port",
  );
  expect(messageOf(() => holder.fromProtobuf(hex("10 05")))).toBe(
    "CodecError: cannot decode Holder.port: invalid Port<int32>: it is missing, and has no default",
  );
  expect(messageOf(() => holder.fromProtobuf(hex("0a 03 0a 01 00")))).toBe(
    "CodecError: cannot decode Holder.port: it takes at least 8 bytes, got 1",
  );
});

test("a port cannot be encoded without a Viceroy runtime", () => {
  expect(messageOf(() => port.toProtobuf("p"))).toBe(
    'CodecError: cannot encode Port<int32>: no Viceroy runtime in this process: import "viceroy" first',
  );
});

test("a message can be written and read while another message is", () => {
  const inner = codec.object("Inner", { text: codec.string, n: codec.int32 });
  const outer = codec.object("Outer", { before: codec.string, inside: codec.bytes, after: codec.string });
  const value = {
    before: "before",
    get inside() {
      return inner.toProtobuf({ text: "inside", n: 1 });
    },
    after: "after",
  };
  const bytes = outer.toProtobuf(value);
  expect(outer.fromProtobuf(bytes)).toStrictEqual({ ...value });

  const read: unknown[] = [];
  setWireEnvironment({
    ...named,
    readPort(r) {
      const name = r.string();
      read.push(inner.fromProtobuf(inner.toProtobuf({ text: name, n: 2 })));
      return name;
    },
  });
  const holder = codec.object("Holder", { port, text: codec.string });
  expect(holder.fromProtobuf(holder.toProtobuf({ port: "p", text: "behind" }))).toStrictEqual({
    port: "p",
    text: "behind",
  });
  expect(read).toStrictEqual([{ text: "p", n: 2 }]);
});

test("an error does not affect the next message", () => {
  const deep = codec.object("Deep", {
    a: codec.object("A", { list: codec.array(codec.object("B", { n: codec.int32 })) }),
  });
  for (let i = 0; i < 300; i++) {
    expect(messageOf(() => deep.toProtobuf({ a: { list: [{ n: 1 }, { n: 0.5 }] } }))).toContain("Deep.a.list[1].n");
    expect(messageOf(() => deep.fromProtobuf(hex("0a 04 0a 02 08 80")))).toContain("CodecError: cannot decode Deep.a");
  }
  const good = { a: { list: [{ n: 1 }] } };
  expect(deep.fromProtobuf(deep.toProtobuf(good))).toStrictEqual(good);
});

test("large messages with long strings, long lists and long sizes survive a round trip", () => {
  const big = codec.object("Big", {
    text: codec.string,
    wide: codec.string,
    list: codec.array(codec.object("Line", { text: codec.string, numbers: codec.array(codec.uint32) })),
    doubles: codec.float64Array,
    bytes: codec.bytes,
  });
  const line = (i: number) => ({
    text: `line ${i} ${"é".repeat(i % 90)}`,
    numbers: Array.from({ length: i % 300 }, (_, n) => n * 1000),
  });
  const value = {
    text: "x".repeat(3_000_000),
    wide: "東".repeat(5461),
    list: Array.from({ length: 2000 }, (_, i) => line(i)),
    doubles: Float64Array.from({ length: 100_000 }, (_, i) => i / 3),
    bytes: new Uint8Array(200_000).fill(7),
  };
  expect(big.fromProtobuf(big.toProtobuf(value))).toStrictEqual(value);
});

test("strings of lengths around the limits of the reader survive a round trip", () => {
  // These lengths lie around the limits at which the reader changes its method, with other fields between the strings.
  const list = codec.array(codec.object("Item", { a: codec.string, n: codec.double, b: codec.string }));
  for (const size of [0, 1, 12, 13, 31, 32, 33, 127, 128, 255, 256, 257, 600, 8191, 8192, 8193, 20_000]) {
    const value = [0, 1, 2].map((i) => ({
      a: "abc ".repeat(size).slice(i, i + size),
      n: -1 / 3,
      b: `é${"b".repeat(size)}`,
    }));
    expect(list.fromProtobuf(list.toProtobuf(value))).toStrictEqual(value);
  }
});

test("an error about tensors without the tensor module names the module to import", () => {
  setWireEnvironment(named);
  const why = 'this process has no tensors: import "viceroy/tensor" in the module of its actors, or in its program';
  const tensor = codec.tensor<object>();
  expect(messageOf(() => tensor.encode({}))).toBe(`CodecError: cannot encode Tensor: ${why}`);
  setWireEnvironment({ ...named, writeTensor() {} });
  const bytes = tensor.encode({});
  setWireEnvironment(named);
  expect(messageOf(() => tensor.decode(bytes))).toBe(`CodecError: cannot decode Tensor: ${why}`);
});
