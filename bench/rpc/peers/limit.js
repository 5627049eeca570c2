/** The limit: raw Unix socket, one write per tick, hand-written codec. See bench/limit/. */
import net from "node:net";
import { decodeRec, encodeRec, maxBytes } from "../../limit/rec-codec.js";
import { FrameWriter, frameReader, readInto } from "../../limit/socket.js";

export async function serve(path) {
  const server = net.createServer((socket) => {
    const writer = new FrameWriter((bytes, done) => socket.write(bytes, done));
    const receive = frameReader((bytes, view, start, end, id) => {
      const record = decodeRec(bytes, view, start, end);
      const at = writer.begin(maxBytes(record));
      writer.end(encodeRec(writer.batch, at, record), id);
    });
    socket.on("data", (chunk) => {
      receive(chunk, chunk.length);
      writer.flush();
    });
  });
  await new Promise((resolve) => server.listen(path, resolve));
}

export async function connect(path) {
  const pending = new Map();
  let nextId = 0;
  const receive = frameReader((bytes, view, start, end, id) => {
    const resolve = pending.get(id);
    pending.delete(id);
    resolve(decodeRec(bytes, view, start, end));
  });
  const socket = net.connect({ path, onread: readInto(receive) });
  await new Promise((resolve) => socket.once("connect", resolve));
  const writer = new FrameWriter((bytes, done) => socket.write(bytes, done));
  return {
    call: (record) =>
      new Promise((resolve) => {
        const at = writer.begin(maxBytes(record));
        const id = nextId++ >>> 0;
        pending.set(id, resolve);
        writer.end(encodeRec(writer.batch, at, record), id);
      }),
    close: () => socket.destroy(),
  };
}
