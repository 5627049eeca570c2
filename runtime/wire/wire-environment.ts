/**
 * The codecs of handles: ports, meshes, registered memory, tensors and references to values of tasks. `wire/` does not know what a handle refers to, so
 * the modules that do register these codecs.
 *
 * They are registered once for a process and not passed to each reader and writer: a codec such as `OrderCodec` encodes
 * whole messages without any context of a runtime, and every message of a process needs the same ones. A message that
 * needs others carries them as `handles` of its reader or writer.
 */
import type { Codec } from "./codec.js";
import type { ActorDescriptor } from "./descriptor.js";
import type { MessageHandles } from "./message-handles.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

/**
 * Writes and reads handles. A write method appends any content with `w.reserve`, `w.string` and `w.append(codec, value)`;
 * its caller stores the length. Decoding fails if the read method does not take exactly the bytes that were written. A
 * write can be repeated when another part of the same message is refused, and its bytes may never be sent. All methods
 * throw an Error whose message completes `cannot encode <path>: …` or `cannot decode <path>: …`.
 */
export interface WireEnvironment {
  writePort(w: Writer, port: unknown, element: Codec<unknown>): void;
  readPort(r: Reader, element: Codec<unknown>): unknown;
  /** @param dims the dimensions that the schema requires; undefined: any */
  writeMesh(w: Writer, mesh: unknown, descriptor: ActorDescriptor, dims: readonly string[] | undefined): void;
  /** @param dims the dimensions that the schema requires; undefined: any */
  readMesh(r: Reader, descriptor: ActorDescriptor, dims: readonly string[] | undefined): unknown;
  writeBuffer?(w: Writer, buffer: unknown): void;
  readBuffer?(r: Reader): unknown;
  writeTensor?(w: Writer, tensor: unknown): void;
  readTensor?(r: Reader): unknown;
  writeObjectRef?(w: Writer, ref: unknown): void;
  readObjectRef?(r: Reader): unknown;
}

let registered: WireEnvironment | undefined;
let extension: Partial<WireEnvironment> = {};
let loadEnvironment: () => void = () => {};
/** The number of calls of `withoutHandles` that are running. */
let refusingScopes = 0;

/** Registers the codecs of handles of this process, or removes them. */
export function setWireEnvironment(environment: WireEnvironment | undefined): void {
  registered = environment === undefined ? undefined : { ...environment, ...extension };
}

/** Registers codecs of handles from a module that only some programs load. Works before and after `setWireEnvironment`. */
export function extendWireEnvironment(more: Partial<WireEnvironment>): void {
  extension = { ...extension, ...more };
  if (registered !== undefined) registered = { ...registered, ...more };
}

/** Sets the function that loads the codecs of handles, if they have not been registered when the first handle is encoded or decoded. */
export function loadEnvironmentWith(load: () => void): void {
  loadEnvironment = load;
}

/** Makes the handles of a message, which use these codecs in place of the registered ones. */
export function messageHandles(codecs: Partial<WireEnvironment>): MessageHandles {
  return { codecs };
}

/**
 * Returns the codecs for the handles of a message.
 *
 * @param handles those of the message's reader or writer
 * @throws {Error} when no runtime has been started in this process
 */
export function wireEnvironment(handles?: MessageHandles): WireEnvironment {
  if (refusingScopes > 0) return refusingEnvironment;
  if (registered === undefined) loadEnvironment();
  if (registered === undefined) throw new Error('no Viceroy runtime in this process: import "viceroy" first');
  return handles === undefined ? registered : { ...registered, ...handles.codecs };
}

/**
 * Runs a function in which handles, such as ports and meshes, can be neither encoded nor decoded. Use it for
 * bytes from outside the program, which must not name an address that this process would connect to.
 *
 * @param step a synchronous function; asynchronous work that it starts is not covered
 * @returns the result of `step`
 * @throws {CodecError} when `step` encodes or decodes a handle
 */
export function withoutHandles<T>(step: () => T): T {
  // A count and not a property of readers and writers: `step` calls codecs that choose their own.
  refusingScopes++;
  try {
    return step();
  } finally {
    refusingScopes--;
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
  writeObjectRef: () => refuseHandle("ObjectRef"),
  readObjectRef: () => refuseHandle("ObjectRef"),
};

function refuseHandle(handle: string): never {
  throw new TypeError(`a ${handle} means something inside a running mesh alone`);
}
