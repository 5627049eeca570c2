/** The limit: encodes the record once, sends the same bytes to every socket, and resolves one promise when all answers have arrived. */
import { decodeRecord, encodeRecord, maxBytes } from "../../limit/record-codec.js";
import { connectTo, FrameWriter, frameReader, listen, writingTo } from "../../limit/socket.js";
import { startWorkers } from "../workers.js";

export async function serve(path) {
  await listen(path, (socket) => {
    const writer = new FrameWriter(writingTo(socket));
    const read = frameReader((bytes, view, start, end, id) => {
      const record = decodeRecord(bytes, view, start, end);
      const at = writer.begin(5);
      writer.batch.view.setUint32(at, record.id, true);
      writer.batch.bytes[at + 4] = 1;
      writer.end(at + 5, id);
    });
    return (chunk, length) => {
      read(chunk, length);
      writer.flush();
    };
  });
}

export async function start(count, address) {
  const { addresses, stop } = await startWorkers("limit", count, address);
  let open;
  const sockets = await Promise.all(
    addresses.map((path, worker) => {
      const read = frameReader((bytes, view, start, end) => {
        if (end - start !== 5) throw new RangeError("cannot decode Done: malformed message");
        open.answers[worker] = { id: view.getUint32(start, true), ok: bytes[start + 4] === 1 };
        if (--open.missing === 0) open.resolve(open.answers);
      });
      return connectTo(path, read);
    }),
  );
  const writes = sockets.map(writingTo);
  const nothing = () => {};
  const sendToAll = (batch, done) => {
    const bytes = Buffer.from(batch);
    done();
    for (const write of writes) write(bytes, nothing);
  };
  const writer = new FrameWriter(sendToAll);
  return {
    round: (record) =>
      new Promise((resolve) => {
        open = { answers: new Array(count), missing: count, resolve };
        const at = writer.begin(maxBytes(record));
        writer.end(encodeRecord(writer.batch, at, record), 0);
      }),
    close: stop,
  };
}
