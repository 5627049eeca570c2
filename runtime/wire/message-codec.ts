/**
 * Encodes and decodes whole messages for every codec: the header, slot, body, string heap and blocks. If the first attempt
 * fails, the written bytes are discarded and a second, slower attempt finds the field and the reason (traced-part.ts), so
 * that the first one does not track paths.
 *
 * Message: [u32 start of the heap] if it can contain text, [u32 end of the heap] if it can contain blocks, slot, body, heap,
 * blocks. Offsets count from the start of the message.
 */
import { describeValue } from "../../shared/text/describe-value.js";
import type { Codec, DecodeOptions, JsonReadOptions, JsonWriteOptions } from "./codec.js";
import { CodecError } from "./codec-error.js";
import { CodecRefusal } from "./codec-refusal.js";
import { toCodecError, unexplainedError } from "./explain-error.js";
import { fromJson, toJson } from "./json/whole-message.js";
import type { MessageHandles } from "./message-handles.js";
import { newPage } from "./page.js";
import type { ProtobufReader } from "./protobuf/reader.js";
import { fromProtobuf, toProtobuf, toProtobufParts } from "./protobuf/whole-message.js";
import type { ProtobufWriter } from "./protobuf/writer.js";
import { Reader } from "./reader.js";
import type { JsonValue } from "./well-known.js";
import { Writer } from "./writer.js";

/** Messages up to this size in bytes are copied before decoding, which is cheaper than creating a reader and a view. */
const MAX_COPIED_BYTES = 2048;

const ownWriter = new Writer();
const ownReader = new Reader();
const ownPage = newPage(MAX_COPIED_BYTES);
/** Whether `ownReader` is decoding a message. A nested message needs another reader. */
let isReading = false;

export abstract class MessageCodec<T> implements Codec<T> {
  abstract readonly name: string;
  abstract readonly fingerprint: bigint;
  abstract readonly slot: number;
  abstract readonly text: boolean;
  abstract readonly bulk: boolean;
  /** The size of the header in bytes. */
  abstract readonly head: number;
  abstract write(w: Writer, at: number, value: T): void;
  abstract read(r: Reader, at: number): T;
  abstract writeFields(w: ProtobufWriter, value: T): void;
  abstract readFields(r: ProtobufReader, end: number, into: T | undefined): T;
  /** Returns the codec that adds the path to its refusals if the reader or writer is `tracing`. */
  abstract trace(): Codec<T>;

  encode(value: T): Uint8Array {
    // The value can have getters that encode another message.
    const w = ownWriter.start < 0 ? ownWriter : new Writer();
    this.encodeInto(w, value);
    const bytes = wholeMessage(w);
    w.clear();
    return bytes;
  }

  /** @internal Encodes a value as `encode` does, with the given codecs of handles. */
  encodeWith(handles: MessageHandles | undefined, value: T): Uint8Array {
    if (handles === undefined) return this.encode(value);
    const w = new Writer();
    w.handles = handles;
    this.encodeInto(w, value);
    return wholeMessage(w);
  }

  decode(bytes: Uint8Array, options?: DecodeOptions): T {
    if (!(bytes instanceof Uint8Array)) {
      throw new CodecError("decode", this.name, `expected a Uint8Array, got ${describeValue(bytes)}`);
    }
    const views = options?.views ?? false;
    if (isReading || views || bytes.length > MAX_COPIED_BYTES) return this.#decodeInPlace(bytes, views, undefined);
    const size = bytes.length;
    const copy = ownPage.bytes;
    if (size <= 16) for (let i = 0; i < size; i++) copy[i] = bytes[i] as number;
    else copy.set(bytes);
    const r = ownReader;
    r.reset(copy, ownPage.view, 0, size);
    isReading = true;
    try {
      return this.decodeFrom(r);
    } finally {
      isReading = false;
    }
  }

  /** @internal Decodes a message as `decode` does, with the given codecs of handles. */
  decodeWith(handles: MessageHandles | undefined, bytes: Uint8Array): T {
    return handles === undefined ? this.decode(bytes) : this.#decodeInPlace(bytes, false, handles);
  }

  #decodeInPlace(bytes: Uint8Array, views: boolean, handles: MessageHandles | undefined): T {
    const r = new Reader();
    r.views = views;
    r.handles = handles;
    r.reset(bytes, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, bytes.length);
    return this.decodeFrom(r);
  }

  toProtobuf(value: T): Uint8Array {
    return toProtobuf(this, value, undefined);
  }

  /** @internal Encodes a value as `toProtobuf` does, with the given codecs of handles. */
  toProtobufWith(handles: MessageHandles | undefined, value: T): Uint8Array {
    return toProtobuf(this, value, handles);
  }

  /** @internal Encodes a value as `toProtobuf` does, in parts that can be memory of the value. */
  toProtobufParts(value: T): Uint8Array[] {
    return toProtobufParts(this, value);
  }

  fromProtobuf(bytes: Uint8Array): T {
    return fromProtobuf(this, bytes, undefined);
  }

  /** @internal Decodes a message as `fromProtobuf` does, with the given codecs of handles. */
  fromProtobufWith(handles: MessageHandles | undefined, bytes: Uint8Array): T {
    return fromProtobuf(this, bytes, handles);
  }

  toJson(value: T, options?: JsonWriteOptions): JsonValue {
    return toJson(this, value, options);
  }

  fromJson(json: unknown, options?: JsonReadOptions): T {
    return fromJson(this, json, options);
  }

  encodeInto(w: Writer, value: T): void {
    if (w.start >= 0) this.#nested();
    const position = w.position;
    const blocks = w.blocks.length;
    try {
      this.writeMessage(w, value);
      w.start = -1;
    } catch (error) {
      throw this.#notEncodedAt(w, position, blocks, value, error);
    }
  }

  /** Removes what was written of a value, and returns the error. */
  #notEncodedAt(w: Writer, position: number, blocks: number, value: T, error: unknown): CodecError {
    const explained = this.#notEncoded(w.handles, value, error);
    w.restore(position, blocks);
    return explained;
  }

  /**
   * Writes a message: its header, value and string heap. Generated codecs override this method with one that contains
   * the sizes as constants and calls `write` directly. Here, which all codecs of a process share, V8 finds each of them
   * by a search.
   */
  protected writeMessage(w: Writer, value: T): void {
    const head = this.head;
    const start = w.begin(head + this.slot);
    this.write(w, start + head, value);
    if (this.text) w.finishText(start);
    if (this.bulk) w.finishBulk(start + head - 4);
  }

  #nested(): never {
    throw new CodecError("encode", this.name, "the writer is inside another message");
  }

  decodeFrom(r: Reader): T {
    const start = r.position;
    const end = r.end;
    try {
      return this.readMessage(r);
    } catch (error) {
      throw this.#notDecodedAt(r, start, end, error);
    }
  }

  /** Returns to the start of a message, and returns the error. */
  #notDecodedAt(r: Reader, start: number, end: number, error: unknown): CodecError {
    r.depth = 0;
    r.position = start;
    r.end = end;
    return this.#notDecoded(r, error);
  }

  /** Reads a message that `writeMessage` wrote, and refuses what is left over. Generated codecs override this method. */
  protected readMessage(r: Reader): T {
    const head = this.head;
    const start = r.begin(head + this.slot);
    if (this.bulk) r.openBulk(start, start + head - 4);
    if (this.text) r.openText(start);
    const value = this.read(r, start + head);
    r.closeBody();
    if (this.text) r.closeText();
    if (this.bulk) r.closeBulk();
    return value;
  }

  #notEncoded(handles: MessageHandles | undefined, value: T, error: unknown): CodecError {
    if (error instanceof CodecRefusal && error.isFinal) return toCodecError("encode", this.name, error);
    const w = new Writer(1024);
    w.tracing = true;
    w.handles = handles;
    try {
      w.append(this.trace(), value);
    } catch (traced) {
      return toCodecError("encode", this.name, traced);
    }
    return unexplainedError(this.name, error);
  }

  #notDecoded(r: Reader, error: unknown): CodecError {
    if (r.tracing) return toCodecError("decode", this.name, error);
    const second = new Reader();
    second.tracing = true;
    second.handles = r.handles;
    second.reset(r.bytes, r.view, r.position, r.end, r.blocks);
    try {
      this.trace().decodeFrom(second);
    } catch (traced) {
      return traced as CodecError;
    }
    return toCodecError("decode", this.name, error);
  }
}

/** Returns a copy of the message in `w`, followed by its blocks. Each block starts at a multiple of 8 bytes. */
function wholeMessage(w: Writer): Uint8Array {
  if (w.blocks.length === 0) return w.copy(0);
  let end = w.position;
  for (const block of w.blocks) end = ((end + 7) & ~7) + block.length;
  const message = w.copy(0, end - w.position);
  let at = w.position;
  for (const block of w.blocks) {
    at = (at + 7) & ~7;
    message.set(block, at);
    at += block.length;
  }
  return message;
}

/** Encodes a value with codecs of handles that are used in place of the registered ones. */
export function encodeWith<T>(codec: Codec<T>, value: T, handles: MessageHandles | undefined): Uint8Array {
  return codec instanceof MessageCodec ? codec.encodeWith(handles, value) : codec.encode(value);
}

/** Decodes a message with codecs of handles that are used in place of the registered ones. */
export function decodeWith<T>(codec: Codec<T>, bytes: Uint8Array, handles: MessageHandles | undefined): T {
  return codec instanceof MessageCodec ? codec.decodeWith(handles, bytes) : codec.decode(bytes);
}
