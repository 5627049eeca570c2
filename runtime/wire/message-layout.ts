/** The part of a codec that links use. */
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

/** Encodes and decodes whole messages. */
export interface MessageLayout<T> {
  /** @throws {CodecError} when the value is not of the type; the writer is then as before */
  encodeInto(w: Writer, value: T): void;
  /** Decodes the message that `r.reset` was given. @throws {CodecError} when the bytes are not a message of the type */
  decodeFrom(r: Reader): T;
}
