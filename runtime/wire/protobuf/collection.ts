/** Lets generated code write and read maps, records and sets through their composed codecs. */
import type { Codec } from "../codec.js";
import { protoFormOf } from "./proto-form.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

/**
 * Writes an array, map, set or record as fields; an empty one as no field.
 *
 * @param number of the field
 */
export function writeCollection<T>(w: ProtobufWriter, number: number, codec: Codec<T>, value: T): void {
  const form = protoFormOf(codec);
  if (form.kind !== "repeated" && form.kind !== "map") w.refuse();
  form.write(w, number, value);
}

/**
 * Reads elements of a collection and appends them to those read before.
 *
 * @param wire the wire type of the tag, from 0 to 5
 * @param into the elements read before
 */
export function readCollection<T>(r: ProtobufReader, codec: Codec<T>, wire: number, into: T | undefined): T {
  const form = protoFormOf(codec);
  if (form.kind !== "repeated" && form.kind !== "map") r.refuse();
  return form.read(r, wire, into);
}
