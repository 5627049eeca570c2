/** Viceroy as users have it: the built package, and generated code that imports it. */
import { Reader, Writer } from "viceroy/codegen/v1";
import { types } from "../messages.js";
import { load } from "../prepare.js";

const generated = await load("generated/messages.js");

export const codecs = Object.fromEntries(
  Object.entries(types).map(([name, type]) => {
    const codec = generated[`${type}Codec`];
    return [name, { encode: (value) => codec.encode(value), decode: (bytes) => codec.decode(bytes), ...batch(codec) }];
  }),
);

/** Works like a link: appends messages to one writer, and decodes them from the received batch with one reader. */
function batch(codec) {
  const w = new Writer();
  const r = new Reader();
  let view;
  return {
    start: () => {
      w.position = 0;
    },
    append: (value) => {
      codec.encodeInto(w, value);
      return w.position;
    },
    align: 8,
    finish: () => w.bytes.subarray(0, w.position),
    open: (bytes) => {
      view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    },
    read: (bytes, start, end) => {
      r.reset(bytes, view, start, end);
      return codec.decodeFrom(r);
    },
  };
}
