/** Viceroy's protobuf layout as users have it: the built package, and generated code that imports it. */
import { types } from "../messages.js";
import { load } from "../prepare.js";

const generated = await load("generated/messages.js");

export const codecs = Object.fromEntries(
  Object.entries(types).map(([name, type]) => {
    const codec = generated[`${type}Codec`];
    return [name, { encode: (value) => codec.toProtobuf(value), decode: (bytes) => codec.fromProtobuf(bytes) }];
  }),
);
