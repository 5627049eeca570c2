/**
 * The base class of generated codecs: the constants of the lockstep layout, and the composed codec of the same type, which
 * explains errors and implements the methods that are not generated.
 */
import type { Codec } from "./codec.js";
import { MessageCodec } from "./message-codec.js";
import { type Structure, structureOf } from "./protobuf/message-structure.js";
import { type ProtoForm, protoFormOf } from "./protobuf/proto-form.js";
import type { ProtobufReader } from "./protobuf/reader.js";
import type { ProtobufWriter } from "./protobuf/writer.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

/** The constants of a type in the lockstep layout. Properties that are left out are false. */
export interface LockstepLayout {
  /** The number of bytes of a value at a fixed place, at least 1. */
  readonly slot: number;
  /** Whether values can contain strings. */
  readonly text?: boolean;
  /** Whether values can contain bytes or typed arrays. */
  readonly bulk?: boolean;
  /** Whether the type can contain itself. Its values then count towards the limit of depth. */
  readonly recursive?: boolean;
}

/** `T` with properties that can be assigned, as generated code builds values. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The base class of generated codecs. */
export abstract class GeneratedCodec<T> extends MessageCodec<T> {
  // Fields are declared and not defined: each class has a shape of its own, which every definition changes when a process starts.

  /** The name of the type in the schema. */
  declare readonly name: string;
  /** A hash of 64 bits of structure and names. */
  declare readonly fingerprint: bigint;
  /** The number of bytes of a value at a fixed place, at least 1. */
  declare readonly slot: number;
  /** Whether values can contain strings. */
  declare readonly text: boolean;
  /** Whether values can contain bytes or typed arrays. */
  declare readonly bulk: boolean;
  /** The number of bytes before the slot of a message: 0, 4 or 8. */
  declare readonly head: number;
  /** Whether the type can contain itself. */
  declare readonly recursive: boolean;
  declare private madeTrace: Codec<T> | undefined;
  declare private madeShape: Codec<T> | undefined;

  /**
   * Sets the constants of the type.
   *
   * @param name the name of the type in the schema
   * @param fingerprint a hash of 64 bits of structure and names
   * @param layout the constants of the lockstep layout
   */
  constructor(name: string, fingerprint: bigint, layout: LockstepLayout) {
    super();
    this.name = name;
    this.fingerprint = fingerprint;
    this.slot = layout.slot;
    this.text = layout.text ?? false;
    this.bulk = layout.bulk ?? false;
    this.head = (this.text ? 4 : 0) + (this.bulk ? 4 : 0);
    this.recursive = layout.recursive ?? false;
  }

  /**
   * Returns the same codec, composed of smaller ones. It describes the structure, finds the field that an error is
   * about, and implements what generated code does not override.
   */
  abstract shape(): Codec<T>;

  /** @internal The composed codec, created on first use. */
  get composed(): Codec<T> {
    this.madeShape ??= this.shape();
    return this.madeShape;
  }

  /** @internal The form of the codec in the protobuf layout. */
  get protoForm(): ProtoForm<T> {
    return protoFormOf(this.composed);
  }

  /** @internal */
  get structure(): Structure<T> {
    return structureOf(this.composed);
  }

  /** Appends the fields of a message in the protobuf layout, without its tag and length. */
  writeFields(w: ProtobufWriter, value: T): void {
    this.composed.writeFields(w, value);
  }

  /**
   * Reads fields in the protobuf layout.
   *
   * @param end byte offset of the end of the message
   * @param into the value of an earlier occurrence of the field
   */
  readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    return this.composed.readFields(r, end, into);
  }

  /** Returns a codec that finds the field that an error is about. */
  override trace(): Codec<T> {
    this.madeTrace ??= new TracedCodec(this);
    return this.madeTrace;
  }
}

/** Encodes and decodes like a generated codec, through its composed codec. */
class TracedCodec<T> extends MessageCodec<T> {
  readonly name: string;
  readonly fingerprint: bigint;
  readonly slot: number;
  readonly text: boolean;
  readonly bulk: boolean;
  readonly head: number;
  readonly #recursive: boolean;
  readonly #shape: Codec<T>;

  constructor(codec: GeneratedCodec<T>) {
    super();
    this.name = codec.name;
    this.fingerprint = codec.fingerprint;
    this.slot = codec.slot;
    this.text = codec.text;
    this.bulk = codec.bulk;
    this.head = codec.head;
    this.#recursive = codec.recursive;
    this.#shape = codec.composed;
  }

  write(w: Writer, at: number, value: T): void {
    if (this.#recursive) w.enter();
    this.#shape.write(w, at, value);
    if (this.#recursive) w.leave();
  }

  read(r: Reader, at: number): T {
    if (this.#recursive) r.enter();
    const value = this.#shape.read(r, at);
    if (this.#recursive) r.leave();
    return value;
  }

  get protoForm(): ProtoForm<T> {
    return protoFormOf(this.#shape);
  }

  writeFields(w: ProtobufWriter, value: T): void {
    this.#shape.writeFields(w, value);
  }

  readFields(r: ProtobufReader, end: number, into: T | undefined): T {
    return this.#shape.readFields(r, end, into);
  }

  override trace(): Codec<T> {
    return this;
  }
}
