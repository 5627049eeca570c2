/**
 * Exercises the whole addon in one process, with worker threads that are ended during transfers, for the sanitizers.
 * Exits with code 0 if all checks have passed.
 */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const addon = createRequire(import.meta.url)(process.env.VICEROY_RDMA_ADDON);
const size = 9 << 20;
const words = 64;

/** Returns a slot that grants `bytes` of this process. */
function grantOf(bytes) {
  const { buffer } = addon.createMemory(4096, true);
  const slot = new Uint8Array(buffer, 512, 512);
  const head = new BigUint64Array(buffer, 512, 8);
  head.set([1n, 2n, (1n << 32n) | 1n, 3n, addon.addressOf(bytes), BigInt(bytes.length), 0n, 0n]);
  return { slot, head: slot.slice(0, 64), word: head, address: addon.addressOf(slot) };
}

function segments(...rows) {
  return BigUint64Array.from(rows.flat().map(BigInt));
}

async function transfers({ memory, granted, pid, mapped }) {
  const local = new Uint8Array(size);
  const all = segments([0, 0, size]);
  const control = () => new BigInt64Array(2);
  const by = mapped
    ? (...args) => addon.mappedTransfer(...args, memory)
    : (...args) => addon.processTransfer(...args, pid, granted.address);
  const call = (direction, view, rows, state, lanes, head = granted.head, helped = 0) =>
    by(direction, view, rows, granted.slot, head, state, 5n, lanes, helped);

  memory.fill(3);
  const state = control();
  assert.equal(await call(0, local, all, state, 2), 0);
  assert.ok(local.every((byte) => byte === 3));
  assert.equal(state[1], BigInt(size));
  assert.equal(await call(1, local.fill(4), all, control(), 2), 0);
  assert.ok(memory.every((byte) => byte === 4));
  // The calling thread copies a part, beside threads of the pool.
  assert.equal(await call(0, local.fill(0), all, control(), 2, granted.head, size / 2), 0);
  assert.ok(local.every((byte) => byte === 4));
  const helped = control();
  assert.equal(await call(1, local.fill(6), all, helped, 1, granted.head, size), 0);
  assert.ok(memory.every((byte) => byte === 6));
  assert.equal(helped[1], BigInt(size));
  assert.equal(call(0, local, segments([5, 6, 7], [0, 0, 0]), control(), 0), 0);
  const rows = Array.from({ length: 5000 }, (_, i) => [i * 64, i * 16, 16]);
  assert.equal(await call(0, local, segments(...rows), control(), 2), 0);
  // Many transfers run at the same time, with more writers than writer cells.
  const many = Array.from({ length: 80 }, (_, i) =>
    call(i % 2, new Uint8Array(size / 8), segments([i, 0, size / 8 - i]), control(), 2, granted.head, i % 3 ? 0 : size),
  );
  assert.deepEqual([...new Set(await Promise.all(many))], [0]);
  // The transfer is cancelled.
  const stop = control();
  const given = call(0, local, all, stop, 1);
  Atomics.store(stop, 0, 1n);
  assert.ok([0, -1].includes(await given));
  // The head of the slot differs from the granted one.
  assert.equal(
    call(
      0,
      local,
      segments([0, 0, 8]),
      control(),
      0,
      granted.head.map((byte, i) => (i === 0 ? byte ^ 1 : byte)),
    ),
    -2,
  );
  assert.throws(() => call(0, local, segments([1, 0, size]), control(), 0), /a segment exceeds the granted memory/);
  assert.throws(() => call(0, local, segments([0, 1, size]), control(), 0), /a segment exceeds the local view/);
  assert.throws(
    () => call(0, local, segments([2n ** 64n - 1n, 0, 2]), control(), 0),
    /a segment exceeds the granted memory/,
  );
  assert.throws(() => call(0, local, new BigUint64Array(2), control(), 0), /three words/);
  assert.throws(() => call(0, {}, all, control(), 0), /expected a typed array/);
  assert.throws(() => call(0, local, all, new BigInt64Array(1), 0), /control/);
  // The grant ends during a read.
  const late = call(0, local, all, control(), 2);
  Atomics.store(granted.word, 2, (1n << 32n) | 2n);
  assert.ok([0, -2].includes(await late));
  Atomics.store(granted.word, 2, (1n << 32n) | 1n);
}

async function everything() {
  const memory = new Uint8Array(size);
  await transfers({ memory, granted: grantOf(memory), pid: process.pid });
  const made = addon.createMemory(size, false);
  const view = addon.mapMemory(made.fd, 0, size, 0);
  new Uint8Array(made.buffer)[9] = 1;
  assert.equal(new Uint8Array(view)[9], 1);
  const own = new Uint8Array(addon.mapMemory(made.fd, 4096, 4096, 1));
  own[0] = 7;
  assert.equal(new Uint8Array(view)[4096], 0);
  const shared = new Uint8Array(view);
  await transfers({ memory: shared, granted: grantOf(shared), mapped: true });
  // The memory is unmapped during a read.
  const granted = grantOf(shared);
  const reading = addon.mappedTransfer(
    0,
    new Uint8Array(size),
    segments([0, 0, size]),
    granted.slot,
    granted.head,
    new BigInt64Array(2),
    5n,
    2,
    size / 4,
    shared,
  );
  addon.unmap(view);
  assert.equal(view.byteLength, 0);
  assert.equal(await reading, 0);
  addon.unmap(view);
  assert.throws(() => addon.mapMemory(made.fd, 0, size + 4096, 0), /more memory than there is/);
  assert.throws(() => addon.mapMemory(0, 0, 4096, 0), /cannot map/);
  assert.throws(() => addon.createMemory(0, false), /expected more than 0/);
  assert.equal(addon.readProcess(process.pid, 8n, new Uint8Array(8)), 14);
  const event = addon.createEvent();
  await new Promise((resolve) => {
    const watch = new addon.Watch(event, () => {
      assert.equal(addon.drainEvent(event), true);
      assert.equal(addon.drainEvent(event), false);
      watch.close();
      watch.close();
      resolve();
    });
    watch.ref();
    addon.signalEvent(event);
  });
  // The memory belongs to another process, which is then killed.
  const child = fork(fileURLToPath(import.meta.url), ["memory"], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const { address } = await new Promise((resolve) => child.once("message", resolve));
  const bytes = new Uint8Array(8);
  assert.equal(addon.readProcess(child.pid, BigInt(address), bytes), 0);
  assert.equal(bytes[0], 42);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  assert.equal(addon.readProcess(child.pid, BigInt(address), bytes), 3);
}

if (process.argv[2] === "memory") {
  globalThis.kept = new Uint8Array(words).fill(42);
  process.send({ address: String(addon.addressOf(globalThis.kept)) });
  setInterval(() => {}, 1000);
} else if (isMainThread) {
  await everything();
  // One thread ends by itself, and the others are terminated during transfers.
  for (const ms of [undefined, 5, 60, 150]) {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { ms } });
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    if (ms === undefined) assert.deepEqual(await new Promise((resolve) => worker.once("message", resolve)), "done");
    else setTimeout(() => worker.terminate(), ms);
    await ended;
  }
} else {
  await everything();
  parentPort.postMessage("done");
  assert.equal(workerData.ms, undefined);
}
