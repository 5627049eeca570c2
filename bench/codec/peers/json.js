/** JSON as UTF-8 bytes. */
import { types } from "../messages.js";

const codec = {
  buffers: true,
  encode: (value) => Buffer.from(JSON.stringify(value)),
  decode: (bytes) => JSON.parse(bytes.toString()),
};

const { doubles: _, ...names } = types;
export const codecs = Object.fromEntries(Object.keys(names).map((name) => [name, codec]));
