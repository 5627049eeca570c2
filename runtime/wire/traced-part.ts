/**
 * Calls the codec of a part from a composed codec. The second attempt adds the part to the path of a refusal, and uses the
 * composed codec of a generated one.
 */
import type { Codec } from "./codec.js";
import { type PathSegment, withPathSegment } from "./codec-refusal.js";
import { MessageCodec } from "./message-codec.js";
import type { Reader } from "./reader.js";
import type { Writer } from "./writer.js";

export function writePart<T>(w: Writer, codec: Codec<T>, at: number, value: T, segment: PathSegment): void {
  if (!w.tracing) {
    codec.write(w, at, value);
    return;
  }
  try {
    traced(codec).write(w, at, value);
  } catch (error) {
    throw withPathSegment(error, segment);
  }
}

export function readPart<T>(r: Reader, codec: Codec<T>, at: number, segment: PathSegment): T {
  if (!r.tracing) return codec.read(r, at);
  try {
    return traced(codec).read(r, at);
  } catch (error) {
    throw withPathSegment(error, segment);
  }
}

/** Returns the codec that adds the path to its refusals. */
export function traced<T>(codec: Codec<T>): Codec<T> {
  return codec instanceof MessageCodec ? (codec.trace() as Codec<T>) : codec;
}

export { invalidValue } from "./codec-refusal.js";
