/** Handles are encoded by the registered codecs, or by those that the reader or writer of a message carries. */
import { afterEach, expect, test } from "vitest";
import { codec, Reader, Writer } from "../../runtime/wire/index.js";
import { decodeWith, encodeWith } from "../../runtime/wire/message-codec.js";
import type { MessageHandles } from "../../runtime/wire/message-handles.js";
import { protobufArguments } from "../../runtime/wire/protobuf-messages.js";
import {
  extendWireEnvironment,
  messageHandles,
  setWireEnvironment,
  type WireEnvironment,
  wireEnvironment,
  withoutHandles,
} from "../../runtime/wire/wire-environment.js";

/** Removes the codecs of buffers and tensors. */
const nothing = {
  ...{
    readObjectRef: undefined,
    writeObjectRef: undefined,
    readTensor: undefined,
    writeTensor: undefined,
    readBuffer: undefined,
    writeBuffer: undefined,
  },
} as unknown as Partial<WireEnvironment>;

afterEach(() => {
  setWireEnvironment(undefined);
  extendWireEnvironment(nothing);
});

const named: WireEnvironment = {
  writePort: (w: Writer, port) => w.string(port as string),
  readPort: (r: Reader) => r.string(),
  writeMesh: (w: Writer, mesh, { name }, dims) => w.string(`${mesh} of ${name} by ${dims}`),
  readMesh: (r: Reader, { name }, dims) => `${r.string()}, read of ${name} by ${dims}`,
};
const buffers: Partial<WireEnvironment> = { writeBuffer: (w) => w.string("buffer"), readBuffer: (r) => r.string() };
const tensors: Partial<WireEnvironment> = { writeTensor: (w) => w.string("tensor"), readTensor: (r) => r.string() };

const mesh = codec.mesh<string>(() => ({ name: "Counter" }) as never, ["hosts"]);

test("the codecs of a mesh get its descriptor and its dimensions", () => {
  setWireEnvironment(named);
  expect(mesh.name).toBe("CounterMesh");
  expect(mesh.decode(mesh.encode("four"))).toBe("four of Counter by hosts, read of Counter by hosts");
});

test("a handle without a registered codec is refused with advice", () => {
  const none = 'no Viceroy runtime in this process: import "viceroy" first';
  expect(() => wireEnvironment()).toThrow(none);
  expect(() => mesh.encode("m")).toThrow(`cannot encode CounterMesh: ${none}`);
  setWireEnvironment(named);
  expect(() => codec.rdmaBuffer().encode({})).toThrow(
    "cannot encode RdmaBuffer: RdmaBuffer is not supported by this runtime",
  );
  extendWireEnvironment(buffers);
  const bytes = codec.rdmaBuffer().encode({});
  expect(codec.rdmaBuffer().decode(bytes)).toBe("buffer");
  extendWireEnvironment(nothing);
  expect(() => codec.rdmaBuffer().decode(bytes)).toThrow(
    "cannot decode RdmaBuffer: RdmaBuffer is not supported by this runtime",
  );
});

test("a reference to a value of tasks is refused with advice until its codec is added", () => {
  setWireEnvironment(named);
  const ref = codec.objectRef<string>(() => codec.int32);
  const advice = 'import "viceroy/tasks" in the module of its actors, or in its program';
  expect(() => ref.encode("ref")).toThrow(`cannot encode ObjectRef<int32>: this process has no references`);
  expect(() => ref.encode("ref")).toThrow(advice);
  extendWireEnvironment({ writeObjectRef: (w) => w.string("ref"), readObjectRef: (r) => r.string() });
  expect(ref.decode(ref.encode("ref"))).toBe("ref");
});

test("codecs can be added before and after the runtime is registered", () => {
  extendWireEnvironment(tensors);
  setWireEnvironment(named);
  expect(codec.tensor().decode(codec.tensor().encode({}))).toBe("tensor");
  extendWireEnvironment(buffers);
  expect(codec.rdmaBuffer().decode(codec.rdmaBuffer().encode({}))).toBe("buffer");
  expect(codec.tensor().decode(codec.tensor().encode({}))).toBe("tensor");
});

test("withoutHandles refuses handles of every kind, and has no effect afterwards", () => {
  setWireEnvironment(named);
  extendWireEnvironment({ ...buffers, ...tensors });
  const handles = {
    Port: codec.port<unknown>(() => codec.int32),
    Mesh: mesh,
    RdmaBuffer: codec.rdmaBuffer<unknown>(),
    Tensor: codec.tensor<unknown>(),
  };
  for (const [name, of] of Object.entries(handles)) {
    const bytes = of.encode("x" as never);
    const why = `a ${name} means something inside a running mesh alone`;
    expect(() => withoutHandles(() => of.encode("x" as never))).toThrow(why);
    expect(() => withoutHandles(() => of.decode(bytes))).toThrow(why);
    expect(() => of.toJson("x" as never)).toThrow(
      `a ${name} has no JSON: it means something inside a running mesh alone`,
    );
    expect(() => of.fromJson("x")).toThrow(`a ${name} has no JSON: it means something inside a running mesh alone`);
    of.decode(bytes);
  }
  expect(withoutHandles(() => 5)).toBe(5);
});

/** Counts its calls, so that both attempts of a refused message are seen. */
function counting(): { readonly handles: MessageHandles; readonly calls: string[] } {
  const calls: string[] = [];
  const handles = messageHandles({
    writeTensor: (w, value) => {
      calls.push("written");
      if (value === "refused") throw new TypeError("expected another tensor");
      w.string(`own ${value}`);
    },
    readTensor: (r) => {
      calls.push("read");
      const text = r.string();
      if (text === "own damaged") throw new TypeError("a damaged tensor");
      return text;
    },
  });
  return { handles, calls };
}

const args = codec.tuple<[unknown, string]>(codec.tensor(), codec.string);
/** A handle in the protobuf layout is a message of its own, which has a second attempt, too. */
const attempts = { lockstep: 2, protobuf: 4 };
const layouts = { lockstep: args, protobuf: protobufArguments(args as never) };

test.each(["lockstep", "protobuf"] as const)("a %s message uses the codecs of its writer and reader", (name) => {
  setWireEnvironment(named);
  extendWireEnvironment(tensors);
  const { handles, calls } = counting();
  const w = new Writer();
  const message = (value: unknown) => {
    w.clear();
    layouts[name].encodeInto(w, [value, "x"] as never);
    return w.copy(0);
  };
  const read = (bytes: Uint8Array, own?: MessageHandles) => {
    const r = new Reader();
    r.handles = own;
    r.reset(bytes, new DataView(bytes.buffer), 0, bytes.length);
    return layouts[name].decodeFrom(r);
  };
  w.handles = handles;
  const carried = message("one");
  expect(() => message("refused")).toThrow("expected another tensor");
  expect(calls.splice(0)).toEqual(new Array(1 + attempts[name]).fill("written"));
  const damaged = message("damaged");
  w.handles = undefined;
  const plain = message("one");
  expect(read(carried, handles)).toEqual(["own one", "x"]);
  expect(() => read(damaged, handles)).toThrow("a damaged tensor");
  expect(calls).toEqual(["written", "read", ...new Array(attempts[name]).fill("read")]);
  expect([read(carried), read(plain)]).toEqual([
    ["own one", "x"],
    ["tensor", "x"],
  ]);
  expect(() => withoutHandles(() => read(carried, handles))).toThrow("means something inside a running mesh alone");
});

test("whole messages are encoded and decoded with given codecs", () => {
  setWireEnvironment(named);
  extendWireEnvironment(tensors);
  const { handles } = counting();
  const bytes = encodeWith(args, ["one", "x"], handles);
  expect(decodeWith(args, bytes, handles)).toEqual(["own one", "x"]);
  expect(decodeWith(args, encodeWith(args, ["one", "x"], undefined), undefined)).toEqual(["tensor", "x"]);
});
