/** protobufjs. A batch is one writer with delimited messages that is finished once. */
import protobuf from "protobufjs/minimal.js";
import { types } from "../messages.js";
import { load } from "../prepare.js";

const { bench } = await load("pbjs.js");
const { doubles: _, ...names } = types;
export const codecs = Object.fromEntries(Object.entries(names).map(([name, type]) => [name, codec(bench[type])]));

function codec(type) {
  let writer;
  let reader;
  return {
    create: (value) => type.create(value),
    encode: (message) => type.encode(message).finish(),
    decode: (bytes) => type.decode(bytes),
    start: () => {
      writer = protobuf.Writer.create();
    },
    append: (message) => {
      type.encode(message, writer.fork()).ldelim();
      return writer.len;
    },
    finish: () => writer.finish(),
    open: (bytes) => {
      reader = protobuf.Reader.create(bytes);
    },
    read: (_bytes, start) => {
      reader.pos = start;
      return type.decode(reader, reader.uint32());
    },
  };
}
