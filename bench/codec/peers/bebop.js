/** Bebop. `encode` returns a part of a buffer that the next message overwrites, so a fresh message is a copy. */
import * as generated from "../generated/bebop.js";
import { types } from "../messages.js";

const { doubles: _, ...names } = types;
export const codecs = Object.fromEntries(
  Object.entries(names).map(([name, type]) => [name, codec(generated[type === "People" ? "PersonList" : type])]),
);

function codec(type) {
  return {
    encode: (value) => type.encode(value).slice(),
    decode: (bytes) => type.decode(bytes),
    batchEncode: (value) => type.encode(value),
  };
}
