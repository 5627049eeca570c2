/** The limit: a raw socket, TCP or TLS, with one write per tick and a hand-written codec. See bench/limit/. With `hasRelay`, a process copies its bytes. */
import { readFileSync } from "node:fs";
import tls from "node:tls";
import { fileURLToPath } from "node:url";
import { startReady } from "../../harness/child.js";
import { decodeRecord, encodeRecord, maxBytes } from "../../limit/record-codec.js";
import { connectAt, FrameWriter, frameReader, listenAt, writingTo } from "../../limit/socket.js";
import { startServer } from "../start-server.js";

const relayFile = fileURLToPath(new URL("../../through/relay.js", import.meta.url));

/** The top bit of a frame's id marks bytes instead of a record. */
const blob = 2 ** 31;

/** TLS uses the stream, because bytes that are written to the descriptor would not be encrypted. */
const writerTo = (socket, files) =>
  new FrameWriter(files === undefined ? writingTo(socket) : (bytes, done) => socket.write(bytes, done));

const options = ({ cert, key, ca }) => ({
  cert: readFileSync(cert),
  key: readFileSync(key),
  ca: readFileSync(ca),
  minVersion: "TLSv1.3",
});

export async function serve({ address, tls: files }) {
  const onConnection = (socket) => {
    const writer = writerTo(socket, files);
    const read = frameReader((bytes, view, start, end, id) => {
      if (id >= blob) {
        const at = writer.begin(4);
        writer.batch.view.setUint32(at, end - start, true);
        writer.end(at + 4, id);
        return;
      }
      const record = decodeRecord(bytes, view, start, end);
      const at = writer.begin(maxBytes(record));
      writer.end(encodeRecord(writer.batch, at, record), id);
    });
    return (chunk, length) => {
      read(chunk, length);
      writer.flush();
    };
  };
  if (files === undefined) return (await listenAt({ host: address, port: 0 }, onConnection)).address().port;
  const server = tls.createServer({ ...options(files), requestCert: true, rejectUnauthorized: true }, (socket) => {
    const receive = onConnection(socket.setNoDelay(true));
    socket.on("data", (chunk) => receive(chunk, chunk.length));
  });
  await new Promise((resolve) => server.listen({ host: address, port: 0 }, resolve));
  return server.address().port;
}

export async function start(plan) {
  const { port, stop } = await startServer("limit", plan);
  const relay = plan.hasRelay
    ? await startReady([...plan.through, process.execPath, relayFile, plan.address, String(port)])
    : undefined;
  const pending = [];
  const free = [];
  const take = (id) => {
    free.push(id);
    return pending[id];
  };
  const receive = frameReader((bytes, view, start, end, id) => {
    if (id >= blob) take(id - blob)(view.getUint32(start, true));
    else take(id)(decodeRecord(bytes, view, start, end));
  });
  const socket = await connectTo(plan, relay === undefined ? port : Number(relay.line), receive);
  const writer = writerTo(socket, plan.tls);
  const ask = (size, flag, write) =>
    new Promise((resolve) => {
      const at = writer.begin(size);
      const id = free.pop() ?? pending.length;
      pending[id] = resolve;
      writer.end(write(at), id + flag);
    });
  return {
    call: (record) => ask(maxBytes(record), 0, (at) => encodeRecord(writer.batch, at, record)),
    push: (bytes) =>
      ask(bytes.length, blob, (at) => {
        writer.batch.bytes.set(bytes, at);
        return at + bytes.length;
      }),
    async close() {
      socket.destroy();
      await relay?.stop();
      await stop();
    },
  };
}

async function connectTo({ address, tls: files }, port, receive) {
  if (files === undefined) return connectAt({ host: address, port }, receive);
  const socket = tls.connect({ ...options(files), host: address, port });
  await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
  socket.setNoDelay(true).on("data", (chunk) => receive(chunk, chunk.length));
  return socket;
}
