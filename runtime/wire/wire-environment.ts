/**
 * What the codecs need of the runtime around them: values that stand for something alive (ports, meshes, registered
 * memory, tensors) are written and read by whoever knows what they are. `wire/` itself knows no actors. Set once per
 * process; until then such values cannot be encoded.
 */
import type { Codec } from "./codec.js";
import type { ActorDescriptor } from "./descriptor.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

/**
 * Each writer appends whatever it likes with `w.reserve`, `w.string` and `w.append(codec, value)`; the length is kept
 * by the caller, and a reader that does not take exactly what was written fails the decoding. A write may be repeated
 * when another part of the same message turns out to be wrong, and what was written may never be sent.
 * All throw an Error whose message completes `cannot encode <path>: …`.
 */
export interface WireEnvironment {
  writePort(w: Writer, port: unknown, element: Codec<unknown>): void;
  readPort(r: Reader, element: Codec<unknown>): unknown;
  /** `dims`: the dimensions the schema asks for; undefined: any. */
  writeMesh(w: Writer, mesh: unknown, descriptor: ActorDescriptor, dims: readonly string[] | undefined): void;
  readMesh(r: Reader, descriptor: ActorDescriptor, dims: readonly string[] | undefined): unknown;
  writeBuffer?(w: Writer, buffer: unknown): void;
  readBuffer?(r: Reader): unknown;
  writeTensor?(w: Writer, tensor: unknown): void;
  readTensor?(r: Reader): unknown;
}

let currentEnvironment: WireEnvironment | undefined;
let environmentExtension: Partial<WireEnvironment> = {};

export function setWireEnvironment(environment: WireEnvironment | undefined): void {
  currentEnvironment = environment === undefined ? undefined : { ...environment, ...environmentExtension };
}

/** Gives it what is not loaded by everybody, before or after the runtime: tensors. */
export function extendWireEnvironment(more: Partial<WireEnvironment>): void {
  environmentExtension = { ...environmentExtension, ...more };
  if (currentEnvironment !== undefined) currentEnvironment = { ...currentEnvironment, ...more };
}

/** @throws Error when no runtime has been started in this process */
export function wireEnvironment(): WireEnvironment {
  if (currentEnvironment === undefined) throw new Error('no Viceroy runtime in this process: import "viceroy" first');
  return currentEnvironment;
}

/**
 * Runs a function in which ports, meshes, registered memory and tensors can be neither encoded nor decoded. Use it for
 * bytes from outside the program, which must not name an address that this process would connect to.
 *
 * @param step a synchronous function; asynchronous work that it starts is not covered
 * @returns the result of `step`
 * @throws {CodecError} when `step` encodes or decodes a handle
 */
export function withoutHandles<T>(step: () => T): T {
  const before = currentEnvironment;
  currentEnvironment = refusingEnvironment;
  try {
    return step();
  } finally {
    currentEnvironment = before;
  }
}

const refusingEnvironment: Required<WireEnvironment> = {
  writePort: () => refuseHandle("Port"),
  readPort: () => refuseHandle("Port"),
  writeMesh: () => refuseHandle("Mesh"),
  readMesh: () => refuseHandle("Mesh"),
  writeBuffer: () => refuseHandle("RdmaBuffer"),
  readBuffer: () => refuseHandle("RdmaBuffer"),
  writeTensor: () => refuseHandle("Tensor"),
  readTensor: () => refuseHandle("Tensor"),
};

function refuseHandle(handle: string): never {
  throw new TypeError(`a ${handle} means something inside a running mesh alone`);
}
