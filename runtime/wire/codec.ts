/**
 * The interface of codecs, which convert values of one type to bytes and back, in the lockstep layout
 * (docs/reference/lockstep-layout.md) and in the protobuf layout (docs/reference/protobuf-layout.md). Generated code implements it in
 * straight lines, and `codec.*` by composition. Both write the same bytes.
 */
import type { ProtobufReader } from "./protobuf/reader.js";
import type { ProtobufWriter } from "./protobuf/writer.js";
import type { Reader } from "./reader.js";
import type { JsonValue } from "./well-known.js";
import type { Writer } from "./writer.js";

/** The options of `Codec.decode`. */
export interface DecodeOptions {
  /**
   * Whether typed arrays and bytes refer to the given bytes, where alignment allows, instead of being copied. The given
   * bytes must then not change while the value is used. Default: false.
   */
  readonly views?: boolean;
}

/** The options of `Codec.toJson`. */
export interface JsonWriteOptions {
  /** The codecs of messages that an `Any` can contain. Those of `google.protobuf` are always known. */
  readonly registry?: readonly Codec<unknown>[];
}

/** The options of `Codec.fromJson`. */
export interface JsonReadOptions extends JsonWriteOptions {
  /** Whether unknown fields and unknown enum values are ignored instead of refused. Default: false. */
  readonly ignoreUnknownFields?: boolean;
}

/**
 * Encodes and decodes values of one type, in the lockstep layout, the protobuf layout and JSON. The compiler generates
 * a codec for each exported type of a schema; {@link codec} has those of scalars, and makes codecs of other codecs.
 *
 * The methods with a {@link Writer}, {@link Reader}, {@link ProtobufWriter} or {@link ProtobufReader} are for generated
 * code.
 */
export interface Codec<T> {
  /** The type, as a schema writes it: `Tree`, `int32`, `Tree[]`. */
  readonly name: string;
  /**
   * A hash of 64 bits of structure and names. Two codecs with equal fingerprints can read each other in the lockstep
   * layout.
   */
  readonly fingerprint: bigint;

  /**
   * Encodes a value in the lockstep layout.
   *
   * @param value the value to encode
   * @returns bytes with memory of their own
   * @throws {CodecError} when the value is not a `T`; the message names the field
   */
  encode(value: T): Uint8Array;
  /**
   * Decodes a message in the lockstep layout.
   *
   * @param bytes exactly one message
   * @param options whether typed arrays are copied
   * @throws {CodecError} when the bytes are not exactly one message of this type
   */
  decode(bytes: Uint8Array, options?: DecodeOptions): T;
  /**
   * Appends a message at `w.position`, rounded up to a multiple of 8. Arrays of 32 KiB and more are not copied but
   * listed in `w.blocks`. If it throws, the writer is as before.
   *
   * @throws {CodecError} when the value is not a `T`
   */
  encodeInto(w: Writer, value: T): void;
  /**
   * Decodes the message that `r.reset` was given.
   *
   * @throws {CodecError} when the bytes are not a message of this type
   */
  decodeFrom(r: Reader): T;

  /**
   * The number of bytes of a value at a fixed place, at least 1. Parts of variable length follow later in the message.
   */
  readonly slot: number;
  /** Whether values can contain strings. A message then starts with the position of its string heap. */
  readonly text: boolean;
  /** Whether values can contain bytes or typed arrays. A message then has the position of its blocks. */
  readonly bulk: boolean;
  /**
   * Writes a value as a part of a message.
   *
   * @param at byte offset of the slot, which has been reserved
   */
  write(w: Writer, at: number, value: T): void;
  /**
   * Reads a value as a part of a message.
   *
   * @param at byte offset of the slot, which has been checked
   */
  read(r: Reader, at: number): T;

  /**
   * Encodes a value in the protobuf layout.
   *
   * @param value the value to encode
   * @returns bytes with memory of their own
   * @throws {CodecError} when the value is not a `T`; the message names the field
   */
  toProtobuf(value: T): Uint8Array;
  /**
   * Decodes a message in the protobuf layout. Fields that the type does not have are kept under the symbol {@link
   * unknownFields} of objects.
   *
   * @param bytes exactly one message
   * @throws {CodecError} when the bytes are not a message, or lack a value that has no default
   */
  fromProtobuf(bytes: Uint8Array): T;
  /**
   * Converts a value to JSON, by protobuf's JSON mapping. Unknown fields are left out.
   *
   * @param value the value to convert
   * @param options codecs of messages in `Any`
   * @throws {CodecError} when the value is not a `T`; the message names the field
   */
  toJson(value: T, options?: JsonWriteOptions): JsonValue;
  /**
   * Converts JSON to a value. Every spelling that protobuf's JSON mapping allows is accepted.
   *
   * @param json a result of `JSON.parse`
   * @param options codecs of messages in `Any`, and whether unknown fields are ignored
   * @throws {CodecError} when the JSON is not that of a `T`; the message names the field
   */
  fromJson(json: unknown, options?: JsonReadOptions): T;
  /** Appends the fields of a message in the protobuf layout, without its tag and length. */
  writeFields(w: ProtobufWriter, value: T): void;
  /**
   * Reads fields in the protobuf layout, and leaves `r.position` behind the last one.
   *
   * @param end byte offset of the end of the message
   * @param into the value of an earlier occurrence of the field, which these fields are merged into; it must not be
   *   used afterwards
   */
  readFields(r: ProtobufReader, end: number, into: T | undefined): T;
}

/** The type of the values of a codec: `ValueOf<typeof TreeCodec>` is `Tree`. */
export type ValueOf<C> = C extends Codec<infer T> ? T : never;
