/** Bebop with the functions that its generated code uses internally: `encodeInto` and `readFrom` on one view, with plain objects. */
import { BebopView } from "bebop";
import * as generated from "../generated/bebop.js";
import { types } from "../messages.js";

const { doubles: _, ...names } = types;
export const codecs = Object.fromEntries(
  Object.entries(names).map(([name, type]) => [name, codec(generated[type === "People" ? "PersonList" : type])]),
);

function codec(type) {
  const view = BebopView.getInstance();
  return {
    encode: (value) => type.encode(value).slice(),
    decode: (bytes) => type.decode(bytes),
    start: () => view.startWriting(),
    append: (value) => {
      type.encodeInto(value, view);
      return view.length;
    },
    finish: () => view.toArray(),
    open: (bytes) => view.startReading(bytes),
    read: (_bytes, start) => {
      view.index = start;
      return type.readFrom(view);
    },
  };
}
