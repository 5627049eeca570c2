/** An encoded value as a process holds it: in its own memory, or in that of the machine. */
import type { ValueCodec } from "../refs/value-codec.js";
import type { PlainPlace } from "../values/index.js";
import { MIN_STORED_BYTES, StoredValue, sizeOf } from "./stored-value.js";

export type HeldValue = Uint8Array | StoredValue;

/** Encodes a value into the memory of the machine if it is large, and into that of the process otherwise. Throws as the codec does. */
export function encodeHeld(codec: ValueCodec, value: unknown, place: PlainPlace): HeldValue {
  const encoded = codec.encodeParts?.(value, place) ?? codec.encode(value, place);
  if (encoded instanceof Uint8Array) {
    return encoded.length < MIN_STORED_BYTES ? encoded : (StoredValue.store([encoded]) ?? encoded);
  }
  return StoredValue.store(encoded) ?? joined(encoded);
}

/** Decodes a value. @param reader who gets it: what it writes into large binary values, no other reader sees */
export function decodeHeld(codec: ValueCodec, value: HeldValue, reader: object): unknown {
  if (!(value instanceof StoredValue)) return codec.decode(value);
  return codec.decodeStored === undefined ? codec.decode(value.bytes()) : codec.decodeStored(value, reader);
}

/** Returns the encoded value. */
export function bytesOfHeld(value: HeldValue): Uint8Array {
  return value instanceof StoredValue ? value.bytes() : value;
}

/** Returns the number of bytes of the encoded value. */
export function sizeOfHeld(value: HeldValue): number {
  return value instanceof StoredValue ? value.size : value.length;
}

/** Returns the number of bytes before the binary values that can be mapped. */
export function headOfHeld(value: HeldValue): number {
  return value instanceof StoredValue ? value.headSize : value.length;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(sizeOf(parts));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
