/**
 * The limit without an addon: frames over sockets to processes, and messages to threads, which send each of them back. Nothing is queued,
 * chosen or named.
 */
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { endWithParent, startReady } from "../../harness/child.js";
import { workDirectory } from "../../harness/setup.js";
import { connectTo, FrameWriter, frameReader, listen, writingTo } from "../../limit/socket.js";

const self = fileURLToPath(import.meta.url);

export async function start(workers, isolation) {
  const open = new Map();
  let [last, next] = [0, 0];
  const settle = (id, value) => {
    open.get(id)(value);
    open.delete(id);
  };
  const begin = isolation === "process" ? startProcess : startThread;
  const started = await Promise.all(Array.from({ length: workers }, (_, i) => begin(i, settle)));
  const sendTo = (worker, n) =>
    new Promise((resolve) => {
      const id = ++last;
      open.set(id, resolve);
      started[worker].send(id, n);
    });
  const same = (n) => sendTo(next++ % workers, n);
  const stop = () => Promise.all(started.map(({ stop }) => stop()));
  return { nothing: () => same(0), alone: () => sendTo(0, 0), same, stop };
}

async function startProcess(i, settle) {
  const address = path.join(workDirectory("limit"), String(i));
  const { stop } = await startReady([process.execPath, self, address]);
  const read = frameReader((_bytes, view, at, _end, id) => settle(id, view.getUint32(at, true)));
  const writer = new FrameWriter(writingTo(await connectTo(address, read)));
  return { send: (id, n) => writeFrame(writer, id, n), stop };
}

function writeFrame(writer, id, n) {
  const at = writer.begin(4);
  writer.batch.view.setUint32(at, n, true);
  writer.end(at + 4, id);
}

async function startThread(_i, settle) {
  const worker = new Worker(self);
  await once(worker, "online");
  worker.on("message", ({ id, n }) => settle(id, n));
  return { send: (id, n) => worker.postMessage({ id, n }), stop: () => worker.terminate() };
}

if (!isMainThread) {
  parentPort.on("message", (message) => parentPort.postMessage(message));
} else if (process.argv[1] === self) {
  await listen(process.argv[2], (socket) => {
    const writer = new FrameWriter(writingTo(socket));
    const read = frameReader((_bytes, view, at, _end, id) => writeFrame(writer, id, view.getUint32(at, true)));
    return (chunk, length) => {
      read(chunk, length);
      writer.flush();
    };
  });
  endWithParent();
  process.stdout.write("ready\n");
}
