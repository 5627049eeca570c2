/** avsc with its lower-level API, which writes into and reads from the caller's buffer. */
import { types } from "./avsc-types.js";

export const codecs = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, codec(type)]));

function codec(type) {
  const buffer = Buffer.alloc(1 << 20);
  let position = 0;
  return {
    buffers: true,
    encode: (value) => type.toBuffer(value),
    decode: (bytes) => type.fromBuffer(bytes),
    start: () => {
      position = 0;
    },
    append: (value) => {
      position = type.encode(value, buffer, position);
      return position;
    },
    finish: () => buffer.subarray(0, position),
    open: () => {},
    read: (bytes, start) => type.decode(bytes, start).value,
  };
}
