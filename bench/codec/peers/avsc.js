/** Avro with avsc. Types are compiled at start-up. */
import { types } from "./avsc-types.js";

export const codecs = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, codec(type)]));

function codec(type) {
  return { buffers: true, encode: (value) => type.toBuffer(value), decode: (bytes) => type.fromBuffer(bytes) };
}
