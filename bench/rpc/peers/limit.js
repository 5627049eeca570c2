/** The limit: a raw Unix socket with one write per tick and a hand-written codec. See bench/limit/. */
import { decodeRecord, encodeRecord, maxBytes } from "../../limit/record-codec.js";
import { connectTo, FrameWriter, frameReader, listen, writingTo } from "../../limit/socket.js";

export async function serve(path) {
  await listen(path, (socket) => {
    const writer = new FrameWriter(writingTo(socket));
    const read = frameReader((bytes, view, start, end, id) => {
      const record = decodeRecord(bytes, view, start, end);
      const at = writer.begin(maxBytes(record));
      writer.end(encodeRecord(writer.batch, at, record), id);
    });
    return (chunk, length) => {
      read(chunk, length);
      writer.flush();
    };
  });
}

export async function connect(path) {
  const pending = [];
  const free = [];
  const receive = frameReader((bytes, view, start, end, id) => {
    const resolve = pending[id];
    free.push(id);
    resolve(decodeRecord(bytes, view, start, end));
  });
  const socket = await connectTo(path, receive);
  const writer = new FrameWriter(writingTo(socket));
  return {
    call: (record) =>
      new Promise((resolve) => {
        const at = writer.begin(maxBytes(record));
        const id = free.pop() ?? pending.length;
        pending[id] = resolve;
        writer.end(encodeRecord(writer.batch, at, record), id);
      }),
    close: () => socket.destroy(),
  };
}
