/** msgpackr with shared record structures, its fastest mode: both sides know the keys of all objects. */
import { Packr } from "msgpackr";
import { types } from "../messages.js";

export const codecs = Object.fromEntries(
  Object.keys(types).map((name) => {
    const packr = new Packr({ structures: [], moreTypes: name === "doubles" });
    return [name, { encode: (value) => packr.pack(value), decode: (bytes) => packr.unpack(bytes) }];
  }),
);
