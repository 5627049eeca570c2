/** An encoded value as a process holds it: in its own memory, or in that of the machine. */
import type { ValueCodec } from "../refs/value-codec.js";
import type { PlainPlace } from "../values/index.js";
import type { ObjectStore } from "./object-store.js";
import { sizeOf } from "./stored-file.js";
import { MIN_STORED_BYTES, StoredValue } from "./stored-value.js";

export type HeldValue = Uint8Array | StoredValue;

/** Encodes a value into a store if it is large, and into the memory of the process otherwise. */
export type EncodeHeld = (codec: ValueCodec, value: unknown, place: PlainPlace) => HeldValue;

/**
 * Returns the function that encodes values into a store. It throws as the codec does, and ObjectStoreFullError.
 *
 * @param isResult whether the values are results of tasks, which their receivers open soon
 */
export function encodeInto(store: ObjectStore, isResult: boolean): EncodeHeld {
  return (codec, value, place) => {
    const encoded = codec.encodeParts?.(value, place) ?? codec.encode(value, place);
    if (encoded instanceof Uint8Array) {
      return encoded.length < MIN_STORED_BYTES ? encoded : (put(store, [encoded], isResult) ?? encoded);
    }
    return put(store, encoded, isResult) ?? joined(encoded);
  };
}

function put(store: ObjectStore, parts: readonly Uint8Array[], isResult: boolean): StoredValue | undefined {
  const file = store.put(parts, isResult);
  return file === undefined ? undefined : new StoredValue(file);
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
