/** A codec that looks up another one on first use, since its module may still be being loaded. */
import type { Codec } from "../codec.js";
import { MessageCodec } from "../message-codec.js";
import { type ProtoForm, protoFormOf } from "../protobuf/proto-form.js";
import type { ProtobufReader } from "../protobuf/reader.js";
import type { ProtobufWriter } from "../protobuf/writer.js";
import type { Reader } from "../reader.js";
import type { Writer } from "../writer.js";
import { ComposedCodec } from "./composed-codec.js";

export class LazyCodec<T> extends ComposedCodec<T> {
  readonly #find: () => Codec<T>;
  #found: Codec<T> | undefined;

  constructor(find: () => Codec<T>) {
    super();
    this.#find = find;
  }

  get name(): string {
    return this.#target.name;
  }

  override get fingerprint(): bigint {
    return this.#target.fingerprint;
  }

  get slot(): number {
    return this.#target.slot;
  }

  parts(): readonly Codec<unknown>[] {
    return [this.#target];
  }

  protected fingerprintText(): string {
    return "";
  }

  write(w: Writer, at: number, value: T): void {
    this.#target.write(w, at, value);
  }

  read(r: Reader, at: number): T {
    return this.#target.read(r, at);
  }

  get protoForm(): ProtoForm<T> {
    return protoFormOf(this.#target);
  }

  /** @internal The codec that this one refers to. */
  get target(): Codec<T> {
    return this.#target;
  }

  override writeFields(w: ProtobufWriter, value: T): void {
    this.#target.writeFields(w, value);
  }

  override readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    return this.#target.readFields(r, end, into);
  }

  override trace(): Codec<T> {
    const target = this.#target;
    return target instanceof MessageCodec ? (target.trace() as Codec<T>) : target;
  }

  get #target(): Codec<T> {
    this.#found ??= this.#find();
    return this.#found;
  }
}
