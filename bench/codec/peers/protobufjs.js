/** protobufjs with static code from pbjs. */
import { types } from "../messages.js";
import { load } from "../prepare.js";

const { bench } = await load("pbjs.js");
const { doubles: _, ...names } = types;
export const codecs = Object.fromEntries(Object.entries(names).map(([name, type]) => [name, codec(bench[type])]));

function codec(type) {
  return {
    create: (value) => type.create(value),
    encode: (message) => type.encode(message).finish(),
    decode: (bytes) => type.decode(bytes),
  };
}
