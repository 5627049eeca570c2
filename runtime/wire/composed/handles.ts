/**
 * Codecs of handles: ports, meshes, registered memory, tensors and references to values of tasks. These codecs write the length of a handle and check that
 * exactly this many bytes are read. The registered codecs (wire-environment.ts) write and read the handle itself.
 */
import type { Codec } from "../codec.js";
import { CodecError } from "../codec-error.js";
import { CodecRefusal } from "../codec-refusal.js";
import type { ActorDescriptor } from "../descriptor.js";
import type { JsonForm } from "../json/json-form.js";
import type { ProtoMessageForm } from "../protobuf/proto-form.js";
import type { ProtobufReader } from "../protobuf/reader.js";
import type { ProtobufWriter } from "../protobuf/writer.js";
import type { Reader } from "../reader.js";
import { type WireEnvironment, wireEnvironment } from "../wire-environment.js";
import type { Writer } from "../writer.js";
import { ComposedCodec, fingerprintHex } from "./composed-codec.js";

/** The tag of `bytes state = 1`. */
const stateTag = 0x0a;

abstract class HandleCodec<T> extends ComposedCodec<T> {
  readonly slot = 4;

  protected abstract writeHandle(environment: WireEnvironment, w: Writer, value: T): void;
  protected abstract readHandle(environment: WireEnvironment, r: Reader): T;

  readonly protoForm: ProtoMessageForm = { kind: "message" };
  abstract readonly handle: "Port" | "Mesh" | "RdmaBuffer" | "Tensor" | "ObjectRef";

  get jsonForm(): JsonForm<T> {
    const refuse = (): never => {
      throw new CodecRefusal(`a ${this.handle} has no JSON: it means something inside a running mesh alone`);
    };
    return { absent: refuse, write: refuse, read: refuse };
  }

  parts(): readonly Codec<unknown>[] {
    return [];
  }

  /** Writes the field `bytes state = 1`, which contains a message in the lockstep layout: only Viceroy decodes handles. */
  override writeFields(w: ProtobufWriter, value: T): void {
    w.putBytes(
      stateTag,
      this.#withInnerPath(() => this.encodeWith(w.handles, value)),
    );
  }

  override readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    let state: Uint8Array | undefined;
    while (r.position < end) {
      const tag = r.tag();
      if (tag === stateTag) state = r.getBytes();
      else r.skip(tag);
    }
    if (state === undefined) {
      if (into !== undefined) return into;
      throw new CodecRefusal(`invalid ${this.name}: it is missing, and has no default`);
    }
    const bytes = state;
    return this.#withInnerPath(() => this.decodeWith(r.handles, bytes));
  }

  /** Converts an error of the inner message to a refusal, so that the outer message adds its path. */
  #withInnerPath<V>(step: () => V): V {
    try {
      return step();
    } catch (error) {
      throw error instanceof CodecError ? new CodecRefusal(error.reason, { cause: error.cause }) : error;
    }
  }

  protected override holdsItself(what: "text" | "bulk"): boolean {
    return what === "text";
  }

  write(w: Writer, at: number, value: T): void {
    const from = w.position;
    this.writeHandle(wireEnvironment(w.handles), w, value);
    w.view.setUint32(at, w.position - from, true);
  }

  read(r: Reader, at: number): T {
    const { end, position } = r;
    const own = position + r.view.getUint32(at, true);
    if (own > end) throw new CodecRefusal("the message ends too early");
    r.end = own;
    const value = this.readHandle(wireEnvironment(r.handles), r);
    if (r.position !== own) throw new CodecRefusal(`invalid ${this.name}: there is more than it needs`);
    r.end = end;
    return value;
  }
}

export class PortCodec<P> extends HandleCodec<P> {
  readonly handle = "Port";
  readonly #element: () => Codec<unknown>;

  /** @param element returns the codec, which may be in a module that is still being loaded */
  constructor(element: () => Codec<unknown>) {
    super();
    this.#element = element;
  }

  /** @internal */
  get carried(): { readonly codec: Codec<unknown> } {
    return { codec: this.#element() };
  }

  get name(): string {
    return `Port<${this.#element().name}>`;
  }

  protected fingerprintText(): string {
    return `port(${fingerprintHex(this.#element())})`;
  }

  protected writeHandle(environment: WireEnvironment, w: Writer, value: P): void {
    environment.writePort(w, value, this.#element());
  }

  protected readHandle(environment: WireEnvironment, r: Reader): P {
    return environment.readPort(r, this.#element()) as P;
  }
}

export class MeshCodec<M> extends HandleCodec<M> {
  readonly handle = "Mesh";
  readonly #descriptor: () => ActorDescriptor;
  readonly #dims: readonly string[] | undefined;

  constructor(descriptor: () => ActorDescriptor, dims?: readonly string[]) {
    super();
    this.#descriptor = descriptor;
    this.#dims = dims;
  }

  /** @internal */
  get carried(): { readonly actor: number } {
    return { actor: this.#descriptor().id };
  }

  get name(): string {
    return `${this.#descriptor().name}Mesh`;
  }

  protected fingerprintText(): string {
    return `mesh(${[this.#descriptor().name, ...(this.#dims ?? ["*"])].join(",")})`;
  }

  protected writeHandle(environment: WireEnvironment, w: Writer, value: M): void {
    environment.writeMesh(w, value, this.#descriptor(), this.#dims);
  }

  protected readHandle(environment: WireEnvironment, r: Reader): M {
    return environment.readMesh(r, this.#descriptor(), this.#dims) as M;
  }
}

export class RdmaBufferCodec<B> extends HandleCodec<B> {
  readonly handle = "RdmaBuffer";
  readonly name = "RdmaBuffer";

  protected fingerprintText(): string {
    return "rdmaBuffer";
  }

  protected writeHandle(environment: WireEnvironment, w: Writer, value: B): void {
    if (environment.writeBuffer === undefined) throw new Error("RdmaBuffer is not supported by this runtime");
    environment.writeBuffer(w, value);
  }

  protected readHandle(environment: WireEnvironment, r: Reader): B {
    if (environment.readBuffer === undefined) throw new Error("RdmaBuffer is not supported by this runtime");
    return environment.readBuffer(r) as B;
  }
}

export class TensorCodec<T> extends HandleCodec<T> {
  readonly handle = "Tensor";
  readonly name = "Tensor";

  protected fingerprintText(): string {
    return "tensor";
  }

  /** A tensor can contain text and blocks. */
  protected override holdsItself(): boolean {
    return true;
  }

  protected writeHandle(environment: WireEnvironment, w: Writer, value: T): void {
    if (environment.writeTensor === undefined) throw noTensors();
    environment.writeTensor(w, value);
  }

  protected readHandle(environment: WireEnvironment, r: Reader): T {
    if (environment.readTensor === undefined) throw noTensors();
    return environment.readTensor(r) as T;
  }
}

export class ObjectRefCodec<T> extends HandleCodec<T> {
  readonly handle = "ObjectRef";
  readonly #element: () => Codec<unknown>;

  /** @param element returns the codec, which may be in a module that is still being loaded */
  constructor(element: () => Codec<unknown>) {
    super();
    this.#element = element;
  }

  get name(): string {
    return `ObjectRef<${this.#element().name}>`;
  }

  /** A reference contains text and bytes. */
  protected override holdsItself(): boolean {
    return true;
  }

  /** The value is in no message, so that its type matters to the type checker alone. */
  protected fingerprintText(): string {
    return "objectRef";
  }

  protected writeHandle(environment: WireEnvironment, w: Writer, value: T): void {
    if (environment.writeObjectRef === undefined) throw noObjectRefs();
    environment.writeObjectRef(w, value);
  }

  protected readHandle(environment: WireEnvironment, r: Reader): T {
    if (environment.readObjectRef === undefined) throw noObjectRefs();
    return environment.readObjectRef(r) as T;
  }
}

function noObjectRefs(): Error {
  return new Error(
    'this process has no references to values of tasks: import "viceroy/tasks" in the module of its actors, or in its program',
  );
}

function noTensors(): Error {
  return new Error(
    'this process has no tensors: import "viceroy/tensor" in the module of its actors, or in its program',
  );
}
