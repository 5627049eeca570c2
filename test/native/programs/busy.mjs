/**
 * Keeps an addon busy in the calling thread, with handles on the event loop, work in the thread pool, and threads of the addon. The work keeps
 * the event loop alive only until it is complete.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

/** The size of a transfer in bytes, and the number of transfers. The thread ends before the transfers do. */
const moved = 64 << 20;
const transfers = 3;
/** The number of matrix products, and the number of rows and columns of the matrices. */
const products = 30;
const rows = 400;

/** Starts transfers, which end one after the other, and keeps both ends of a channel and a watched event busy without end. */
function useRdma(addon) {
  const token = new Uint8Array(16).fill(7);
  const offered = new addon.Channel(4096, token);
  const joined = new addon.Channel(4096, token, process.pid, ...offered.descriptors());
  const bytes = new Uint8Array(1024);
  for (const channel of [offered, joined]) {
    channel.begin(0, () => {
      for (let n = channel.read(bytes); n > 0; n = channel.read(bytes)) channel.write(bytes.subarray(0, n), 0);
      return true;
    });
    channel.write(bytes, 0);
  }

  const event = addon.createEvent();
  const watch = new addon.Watch(event, () => {
    addon.drainEvent(event);
    addon.signalEvent(event);
  });
  addon.signalEvent(event);

  const memory = new Uint8Array(moved);
  const { buffer } = addon.createMemory(4096, true);
  const slot = new Uint8Array(buffer, 512, 512);
  const grant = [1n, 2n, (1n << 32n) | 1n, 3n, addon.addressOf(memory), BigInt(moved), 0n, 0n];
  new BigUint64Array(buffer, 512, 8).set(grant);
  const target = new Uint8Array(moved);
  const all = BigUint64Array.of(0n, 0n, BigInt(moved));
  for (let i = 0; i < transfers; i++) {
    void addon.mappedTransfer(0, target, all, slot, slot.slice(0, 64), new BigInt64Array(2), 5n, 2, 0, memory);
  }
  return [offered, joined, watch];
}

/** Starts a stream that multiplies matrices, and fetches the result. */
function useTensors(addon, stack) {
  const site = () => addon.addCallSite("busy.mjs");
  const sampling = stack === undefined ? [] : [stack.sampler, () => [site(), 1]];
  addon.initialize(class {}, site, () => {}, ...sampling);
  const recorder = addon.newRecorder();
  addon.useRecorder(recorder);
  const matmul = addon.operationNumber("aten::matmul");
  let product = addon.call(addon.operationNumber("aten::eye"), undefined, rows);
  for (let i = 0; i < products; i++) product = addon.call(matmul, undefined, product, product);
  const [, reference] = addon.recordedReferenceOf(product);
  addon.useRecorder(null);
  const stream = addon.newStream(0, 1, false, "cpu", 0);
  void addon.submitCommands(stream, addon.takeCommands(recorder));
  void addon.fetchTensor(stream, reference);
  return [recorder, stream, product];
}

/**
 * @param file the path of the addon
 * @param stackFile that of the addon `stack`, with which the addon `tensor` samples stacks; it need not exist
 * @returns objects that the caller must keep alive so that the work continues
 */
export function keepBusy(name, file, stackFile) {
  const require = createRequire(import.meta.url);
  const addon = require(file);
  if (name === "rdma") return useRdma(addon);
  return useTensors(addon, existsSync(stackFile) ? require(stackFile) : undefined);
}
