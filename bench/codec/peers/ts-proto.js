/** ts-proto: generated functions over the writer and reader of protobuf-es. */
import { types } from "../messages.js";
import { load } from "../prepare.js";

const generated = await load("ts-proto/messages.js");
const { doubles: _, ...names } = types;
export const codecs = Object.fromEntries(
  Object.entries(names).map(([name, type]) => {
    const message = generated[type];
    return [name, { encode: (value) => message.encode(value).finish(), decode: (bytes) => message.decode(bytes) }];
  }),
);
