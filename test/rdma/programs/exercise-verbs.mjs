/**
 * Exercises the part of the addon for RDMA devices, for the sanitizers. Exits with code 0 if all checks have passed.
 * The argument is `loop` with the replacement of libibverbs in loop-verbs.cc, `incomplete` with a library without
 * functions, and absent with the library of this machine.
 */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const addon = createRequire(import.meta.url)(process.env.VICEROY_RDMA_ADDON);
const { ENODEV, ENETDOWN, EACCES, ENOMEM, EBUSY, ENOENT, EINVAL, EALREADY, EIO } = constants.errno;
// Node.js has no constant for this error number.
const ESHUTDOWN = 108;
const Access = { localWrite: 1, remoteWrite: 2, remoteRead: 4 };
const Status = { done: 0, flushed: 5, remoteAccess: 10 };
const gid = new Uint8Array(16);
const size = 1 << 20;

const missing = addon.verbsMissing();

/** Checks the results of a device that is not open. */
async function unusable(device) {
  assert.equal(await device.register(new Uint8Array(8), Access.localWrite), -ESHUTDOWN);
  assert.equal(await device.createPair(), -ESHUTDOWN);
  assert.equal(await device.connect(1, 1, gid, 1, 1, 0, 3, 1, 1, 1), -ESHUTDOWN);
  for (const call of ["deregister", "fail", "destroy"]) assert.equal(await device[call](1), -ESHUTDOWN);
  assert.equal(device.post(1, 1, 1, 0, 0, 1, 0n, 0), -ESHUTDOWN);
  assert.equal(device.poll(new Uint32Array(2)), -ESHUTDOWN);
  assert.deepEqual([device.keyOf(1), device.numberOf(1), device.descriptor], [0, 0, -1]);
}

/** Checks that invalid arguments are refused. */
function refusals(device) {
  assert.throws(() => device.register({}, 1), /invalid view: expected a typed array/);
  assert.throws(() => device.register(new Uint8Array(1), -1), /invalid access/);
  assert.throws(() => device.register(new Uint8Array(1), 2 ** 32), /invalid access: expected 32 bits/);
  assert.throws(() => device.deregister("1"), /invalid region/);
  assert.throws(() => device.keyOf(), /invalid region/);
  assert.throws(() => device.numberOf(0.5), /invalid pair/);
  assert.throws(() => device.connect(1, 1, gid.subarray(1), 1, 1, 0, 3, 1, 1, 1), /invalid gid: expected 16 bytes/);
  assert.throws(() => device.connect(1, 1, gid, 1, 1, 0, 3, 1, 1), /invalid retries/);
  assert.throws(() => device.post(1, 1, 1, 0, 0, 1, 1, 0), /invalid remote: expected a bigint/);
  assert.throws(() => device.post(1, 1, 1, 0, 0, 1, -1n, 0), /invalid remote: expected an address of 64 bits/);
  assert.throws(() => device.post(1, 1, 1, 0, -1, 1, 0n, 0), /invalid offset/);
  assert.throws(() => device.post(1, 1, 1, 0, 0, 2 ** 32, 0n, 0), /invalid length: expected 32 bits/);
  assert.throws(() => device.poll("words"), /invalid words/);
}

async function closed(device) {
  await device.close();
  assert.equal(device.close(), undefined);
  assert.throws(() => device.open(), /cannot use an RDMA device: it has been closed/);
  assert.throws(() => device.poll(new Uint32Array(2)), /it has been closed/);
  assert.throws(() => device.descriptor, /it has been closed/);
}

async function withoutDevice() {
  assert.throws(() => new addon.VerbsDevice(5, 1, 0), /invalid name: expected a string/);
  assert.throws(() => new addon.VerbsDevice("x", -1, 0), /invalid port/);
  assert.throws(() => new addon.VerbsDevice("x", 1), /invalid gidIndex/);
  const device = new addon.VerbsDevice("no device has this name", 1, 0);
  await unusable(device);
  refusals(device);
  assert.ok((await device.open()) < 0);
  await unusable(device);
  await closed(device);
  await closed(new addon.VerbsDevice("never opened", 1, 0));
}

/** Returns a device with two queue pairs that are connected to each other. */
async function opened(name = "loop") {
  const device = new addon.VerbsDevice(name, 1, 0);
  assert.equal(await device.open(), 0);
  const pairs = [await device.createPair(), await device.createPair()];
  const [a, b] = pairs;
  const connect = (pair, to) => device.connect(pair, 1, gid, device.numberOf(to), 1, 0, 3, 16, 14, 7);
  assert.deepEqual([await connect(a, b), await connect(b, a)], [0, 0]);
  return { device, pairs };
}

function polled(device, most = 16) {
  const words = new Uint32Array(2 * most);
  const count = device.poll(words);
  assert.ok(count >= 0);
  return Array.from({ length: count }, (_, i) => [words[2 * i], words[2 * i + 1]]);
}

async function transfers() {
  const { device, pairs } = await opened();
  const [pair, other] = pairs;
  refusals(device);
  assert.equal(await device.open(), -EALREADY);
  assert.deepEqual([device.lid, device.mtu, device.reads], [9, 3, 16]);
  assert.ok(device.descriptor > 0);
  const local = new Uint8Array(size);
  const remote = new Uint8Array(size).fill(7);
  const region = await device.register(local, Access.localWrite);
  const granted = await device.register(remote, Access.remoteRead);
  const key = device.keyOf(granted);
  const address = addon.addressOf(remote);
  const post = (tag, direction, offset, length, at = address, by = key, from = pair) =>
    device.post(from, region, tag, direction, offset, length, at, by);

  assert.equal(post(1, 0, 0, size), 0);
  assert.equal(post(2, 0, size - 8, 8), 0);
  assert.deepEqual(polled(device, 1), [[1, Status.done]]);
  assert.deepEqual(polled(device), [[2, Status.done]]);
  assert.deepEqual(polled(device), []);
  assert.equal(device.poll(new Uint32Array(1)), 0);
  assert.ok(local.every((byte) => byte === 7));
  // Ranges outside of the local region, and unknown regions and pairs, are refused.
  assert.equal(post(3, 0, size - 7, 8), -EINVAL);
  assert.equal(post(3, 0, size + 1, 0), -EINVAL);
  assert.equal(post(3, 0, 2 ** 52, 8), -EINVAL);
  assert.equal(post(3, 0, 0, 8, address, key, 999), -ENOENT);
  assert.equal(device.post(pair, 999, 3, 0, 0, 8, address, key), -ENOENT);
  assert.equal(device.post(2 ** 31, region, 3, 0, 0, 8, address, key), -ENOENT);
  assert.deepEqual([device.keyOf(999), device.numberOf(999)], [0, 0]);
  for (const call of ["deregister", "fail", "destroy"]) assert.equal(await device[call](999), -ENOENT);
  assert.equal(await device.connect(999, 1, gid, 1, 1, 0, 3, 1, 1, 1), -ENOENT);
  assert.equal(await device.connect(pair, 1, gid, 1, 1, 0, 3, 1, 1, 1), -EINVAL);
  // A write to a read-only region breaks the pair.
  assert.equal(post(4, 1, 0, 8), 0);
  assert.equal(post(5, 0, 0, 8), 0);
  assert.deepEqual(polled(device), [
    [4, Status.remoteAccess],
    [5, Status.flushed],
  ]);
  assert.equal(await device.deregister(granted), 0);
  assert.equal(await device.deregister(granted), -ENOENT);
  assert.equal(post(6, 0, 0, 8, address, key, other), 0);
  assert.deepEqual(polled(device), [[6, Status.remoteAccess]]);
  assert.equal(await device.fail(other), 0);
  assert.equal(await device.destroy(pair), 0);
  assert.equal(post(7, 0, 0, 8), -ENOENT);
  // Threads of the pool call the device while it is closed; closing it frees a region and a pair.
  const late = Array.from({ length: 20 }, () => device.register(new Uint8Array(4096), Access.remoteRead));
  late.push(...Array.from({ length: 20 }, () => device.createPair()));
  await closed(device);
  for (const id of await Promise.all(late)) assert.ok(id > 0 || id === -ESHUTDOWN);
}

/** Makes each function of the library fail once. */
async function failures() {
  const opens = { down: ENETDOWN, open_device: EACCES, query_device: ENOMEM, query_port: ENOMEM, alloc_pd: ENOMEM };
  Object.assign(opens, { create_comp_channel: ENOMEM, create_cq: ENOMEM, req_notify_cq: ENOMEM });
  for (const [name, errno] of Object.entries(opens)) {
    const device = new addon.VerbsDevice(name, 1, 0);
    // The second attempt shows that the first one has freed its resources.
    for (let i = 0; i < 2; i++) assert.equal(await device.open(), -errno, name);
    await unusable(device);
    await closed(device);
  }
  const wrongPort = new addon.VerbsDevice("loop", 2, 0);
  assert.equal(await wrongPort.open(), -EINVAL);
  assert.equal(await new addon.VerbsDevice("", 1, 0).open(), -ENODEV);
  const bytes = new Uint8Array(64);
  const using = async (name, use) => {
    const device = new addon.VerbsDevice(name, 1, 0);
    assert.equal(await device.open(), 0);
    await use(device);
    await closed(device);
  };
  await using("reg_mr", async (device) => assert.equal(await device.register(bytes, 1), -ENOMEM));
  await using("dereg_mr", async (device) => {
    const region = await device.register(bytes, 1);
    assert.equal(await device.deregister(region), -EBUSY);
    assert.notEqual(device.keyOf(region), 0);
    assert.equal(await device.deregister(region), 0);
  });
  await using("create_qp", async (device) => assert.equal(await device.createPair(), -ENOMEM));
  await using("modify_qp", async (device) => {
    const pair = await device.createPair();
    assert.equal(await device.connect(pair, 1, gid, 1, 1, 0, 3, 1, 1, 1), -ENOMEM);
    assert.equal(await device.fail(pair), -ENOMEM);
  });
  await using("poll_cq", async (device) => assert.equal(device.poll(new Uint32Array(2)), -EIO));
  await using("post_send", async (device) => {
    const [pair, region] = [await device.createPair(), await device.register(bytes, 1)];
    assert.equal(device.post(pair, region, 1, 0, 0, 8, 0n, 0), -ENOMEM);
  });
}

/** Leaves transfers and registrations pending at the end of a thread. */
async function leave() {
  const { device, pairs } = await opened();
  const local = new Uint8Array(size);
  const region = await device.register(local, Access.localWrite | Access.remoteRead);
  const key = device.keyOf(region);
  for (let tag = 0; tag < 50; tag++) {
    assert.equal(device.post(pairs[0], region, tag, 0, 0, size / 2, addon.addressOf(local) + BigInt(size / 2), key), 0);
  }
  for (let i = 0; i < 30; i++) void device.register(new Uint8Array(4096), Access.remoteRead);
}

if (isMainThread) {
  const [mode] = process.argv.slice(2);
  if (mode === "incomplete") assert.equal(missing, "libibverbs.so.1 has no ibv_get_device_list");
  if (mode === "loop") assert.equal(missing, undefined);
  if (missing !== undefined) {
    assert.throws(() => new addon.VerbsDevice("x", 1, 0), { message: `cannot use RDMA devices: ${missing}` });
  } else await withoutDevice();
  if (mode === "loop") {
    await transfers();
    await failures();
    for (const ends of [true, false]) {
      const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { ends } });
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      assert.equal(await new Promise((resolve) => worker.once("message", resolve)), "done");
      if (!ends) await worker.terminate();
      await ended;
    }
    await leave();
  }
} else {
  await transfers();
  await leave();
  parentPort.postMessage("done");
  if (workerData.ends) process.exit(0);
  else setInterval(() => {}, 1000);
}
