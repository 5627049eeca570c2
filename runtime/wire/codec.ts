/**
 * A codec: how values of one type become bytes and back, in the lockstep layout (docs/reference/lockstep-layout.md) and in the protobuf
 * layout (docs/reference/protobuf-layout.md). This is the interface alone; generated code implements it in straight lines, `codec.*`
 * by composition, byte for byte the same.
 */
import type { JsonReadOptions, JsonWriteOptions } from "./json/form.js";
import type { ProtobufReader } from "./protobuf/reader.js";
import type { ProtobufWriter } from "./protobuf/writer.js";
import type { Reader } from "./reader.js";
import type { JsonValue } from "./well-known.js";
import type { Writer } from "./writer.js";

export interface DecodeOptions {
  /**
   * Typed arrays and bytes look into the given bytes instead of being copied, where alignment allows. The bytes must
   * then stay as they are for as long as the value is used.
   */
  readonly views?: boolean;
}

/** Methods, not function properties, so that a codec of a narrower type can stand where a wider one is named. */
export interface Codec<T> {
  /** As a schema would say it: `Tree`, `int32`, `Tree[]`. */
  readonly name: string;
  /** 64 bits, the same for the same structure and names on both sides; ports and endpoints compare it. */
  readonly fingerprint: bigint;

  /**
   * A whole message, in memory of its own.
   * @throws CodecError with the path of the field when `value` is not a `T`
   */
  encode(value: T): Uint8Array;
  /**
   * The value of a whole message.
   * @throws CodecError when the bytes are not exactly one message of this type
   */
  decode(bytes: Uint8Array, options?: DecodeOptions): T;
  /**
   * Appends a whole message at `w.position`, rounded up to a multiple of 8. Arrays of bytes of 32 KiB and more are not
   * copied but listed in `w.blocks`. On error the writer is as before.
   * @throws CodecError
   */
  encodeInto(w: Writer, value: T): void;
  /**
   * The value of the whole message that `r.reset` was given.
   * @throws CodecError
   */
  decodeFrom(r: Reader): T;

  /** Size of the slot: the part of a value at a fixed place, in bytes, at least 1. */
  readonly slot: number;
  /** Whether values can hold strings; then a message starts with the place of its string heap. */
  readonly text: boolean;
  /** Whether values can hold bytes or typed arrays; then a message says where its blocks start. */
  readonly bulk: boolean;
  /** As part of a message: fills the slot at `at`, which is reserved, and appends what varies at `w.position`. */
  write(w: Writer, at: number, value: T): void;
  /** As part of a message: the slot at `at` is known to be there, what varies is taken at `r.position`. */
  read(r: Reader, at: number): T;

  /**
   * The value in the protobuf layout, in memory of its own: the message that the type is, or that stands for it.
   * @throws CodecError with the path of the field when `value` is not a `T`
   */
  toProtobuf(value: T): Uint8Array;
  /**
   * The value of a message in the protobuf layout. Fields that the type does not have are kept under the symbol
   * `unknownFields`, where the type is an object.
   * @throws CodecError when the bytes are no message, or lack what has no default
   */
  fromProtobuf(bytes: Uint8Array): T;
  /**
   * The value as protobuf's JSON mapping has it: the JSON of the message that the type is, or that stands for it. Unknown
   * fields are not part of it.
   * @throws CodecError with the path of the field when `value` is not a `T`
   */
  toJson(value: T, options?: JsonWriteOptions): JsonValue;
  /**
   * The value of what `JSON.parse` made, in any spelling that the mapping allows.
   * @throws CodecError with the path of the field when it is not the JSON of a `T`
   */
  fromJson(json: unknown, options?: JsonReadOptions): T;
  /** As part of a message: appends the fields of the message, without its tag and length. */
  writeFields(w: ProtobufWriter, value: T): void;
  /**
   * As part of a message: reads fields up to `end`, and leaves `r.position` behind the last one.
   * @param into the value of an earlier occurrence, which these fields are merged into; it is not used any more
   */
  readFields(r: ProtobufReader, end: number, into: T | undefined): T;
}

/** The type of the values of a codec. */
export type ValueOf<C> = C extends Codec<infer T> ? T : never;
