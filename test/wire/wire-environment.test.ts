/** Values that stand for something alive are written and read by whoever the process has for them. */
import { afterEach, expect, test } from "vitest";
import { codec, type Reader, type Writer } from "../../runtime/wire/index.js";
import {
  extendWireEnvironment,
  setWireEnvironment,
  type WireEnvironment,
  wireEnvironment,
  withoutHandles,
} from "../../runtime/wire/wire-environment.js";

/** As if nothing had been loaded that has buffers and tensors. */
const nothing = {
  ...{ readTensor: undefined, writeTensor: undefined, readBuffer: undefined, writeBuffer: undefined },
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

test("whoever writes a mesh is told its actor and its dimensions, and who reads it as well", () => {
  setWireEnvironment(named);
  expect(mesh.name).toBe("CounterMesh");
  expect(mesh.decode(mesh.encode("four"))).toBe("four of Counter by hosts, read of Counter by hosts");
});

test("without a runtime, or without what has buffers and tensors, each is refused with what to do", () => {
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

test("what is loaded later is there, whether it comes before the runtime or behind it", () => {
  extendWireEnvironment(tensors);
  setWireEnvironment(named);
  expect(codec.tensor().decode(codec.tensor().encode({}))).toBe("tensor");
  extendWireEnvironment(buffers);
  expect(codec.rdmaBuffer().decode(codec.rdmaBuffer().encode({}))).toBe("buffer");
  expect(codec.tensor().decode(codec.tensor().encode({}))).toBe("tensor");
});

test("in what comes from outside, handles of every kind are refused, and afterwards they are not", () => {
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
