/** Maps, records and sets for generated code: what their composed codecs do. */
import type { Codec } from "../codec.js";
import { positionOf } from "./position.js";
import type { ProtobufReader } from "./reader.js";
import type { ProtobufWriter } from "./writer.js";

/** Writes a collection as fields of `number`, none where it is empty. */
export function writeCollection<T>(w: ProtobufWriter, number: number, codec: Codec<T>, value: T): void {
  const position = positionOf(codec);
  if (position.kind !== "repeated" && position.kind !== "map") w.refuse();
  position.write(w, number, value);
}

/** Reads elements behind a tag of this wire type, and puts them behind those of `into`. */
export function readCollection<T>(r: ProtobufReader, codec: Codec<T>, wire: number, into: T | undefined): T {
  const position = positionOf(codec);
  if (position.kind !== "repeated" && position.kind !== "map") r.refuse();
  return position.read(r, wire, into);
}
