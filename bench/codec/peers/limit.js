/** The limit: see limit/text.js. Fresh messages are copied out of the batch and decoded through their own view. */
import * as list from "../limit/list.js";
import * as numbers from "../limit/numbers.js";
import * as record from "../limit/record.js";
import * as tiny from "../limit/tiny.js";

export const codecs = {
  tiny: codec(tiny.encode, tiny.decode, tiny.written),
  record: codec(record.encode, record.decode, record.written),
  list: codec(list.encode, list.decode, list.written),
  listWide: codec(list.encode, list.decode, list.written),
  numbers: codec(numbers.encode, numbers.decode, numbers.written),
  doubles: codec(numbers.encodeDoubles, numbers.decodeDoubles, numbers.written),
};

function codec(encode, decode, written) {
  // Separate functions for each message, so that each calls its codec directly.
  return new Function("encode", "decode", "written", `return (${methods})(encode, decode, written)`)(
    encode,
    decode,
    written,
  );
}

function methods(encode, decode, written) {
  let end = 0;
  let view;
  return {
    encode: (value) => {
      const whole = written(encode(value, 0));
      return new Uint8Array(whole.buffer, 0, whole.length).slice();
    },
    decode: (message) => {
      return decode(message, new DataView(message.buffer, message.byteOffset, message.byteLength), 0, message.length);
    },
    start: () => {
      end = 0;
    },
    append: (value) => {
      end = encode(value, (end + 7) & ~7);
      return end;
    },
    align: 8,
    finish: () => written(end),
    open: (batch) => {
      view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
    },
    read: (batch, start, to) => decode(batch, view, start, to),
  };
}
