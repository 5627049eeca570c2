/** protobuf-es. Messages are created beforehand; only `toBinary` and `fromBinary` are timed. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { types } from "../messages.js";
import { load } from "../prepare.js";

const generated = await load("messages_pb.js");
const { doubles: _, ...names } = types;
export const codecs = Object.fromEntries(
  Object.entries(names).map(([name, type]) => {
    const schema = generated[`${type}Schema`];
    return [
      name,
      {
        create: (value) => create(schema, value),
        encode: (message) => toBinary(schema, message),
        decode: (bytes) => fromBinary(schema, bytes),
      },
    ];
  }),
);
