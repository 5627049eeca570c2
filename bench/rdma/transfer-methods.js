/**
 * The methods that transfer bytes from another process into a buffer of this one. Each takes the number of bytes and returns a
 * function that fetches them once.
 *
 * @typedef {{ fetch: (into: Uint8Array) => Promise<void> | void, stop: () => unknown }} TransferMethod
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { Client, credentials } from "@grpc/grpc-js";
import { loadDriver } from "../viceroy/prepare.js";

const server = fileURLToPath(new URL("server.js", import.meta.url));
const identity = (bytes) => bytes;

function startServer(kind, size, path) {
  rmSync(path, { force: true });
  const child = fork(server, [kind, String(size), path], { serialization: "advanced" });
  return once(child, "message").then(() => child);
}

/** Reads an RdmaBuffer over one transport. */
const rdma = (transport) => async (size) => {
  const owners = (await loadDriver()).spawnBufferOwners(1);
  const buffer = await owners.at(0).create.callOne(transport === "shared", size);
  await buffer.open({ transports: [transport] });
  return { fetch: (into) => buffer.readInto(into), stop: () => owners.stop() };
};

/** @type {Record<string, (size: number, path: string) => Promise<TransferMethod>>} */
export const transferMethods = {
  shared: rdma("shared"),
  vm: rdma("vm"),
  "vm on huge pages": rdma("vm"),
  stream: rdma("stream"),
  async call(size) {
    const owners = (await loadDriver()).spawnBufferOwners(1);
    await owners.at(0).create.callOne(false, size);
    const fetch = async (into) => into.set(await owners.at(0).bytes.callOne(size));
    return { fetch, stop: () => owners.stop() };
  },
  /** The limit of messages: a bare Unix socket. A request is one byte. */
  async socket(size, path) {
    const child = await startServer("socket", size, path);
    let into = new Uint8Array(size);
    let received = 0;
    let done = () => {};
    const onread = {
      buffer: Buffer.allocUnsafe(256 * 1024),
      callback(length, buffer) {
        into.set(buffer.subarray(0, length), received);
        received += length;
        if (received === size) done();
        return true;
      },
    };
    const socket = connect({ path, onread });
    await once(socket, "connect");
    const fetch = (target) => {
      into = target;
      received = 0;
      return new Promise((resolve) => {
        done = resolve;
        socket.write("x");
      });
    };
    return { fetch, stop: () => child.kill() };
  },
  async "process-send"(size, path) {
    const child = await startServer("process-send", size, path);
    const fetch = async (into) => {
      child.send("x");
      const [bytes] = await once(child, "message");
      into.set(bytes);
    };
    return { fetch, stop: () => child.kill() };
  },
  async "grpc-js"(size, path) {
    const child = await startServer("grpc-js", size, path);
    const options = { "grpc.max_receive_message_length": -1 };
    const client = new Client(`unix:${path}`, credentials.createInsecure(), options);
    const fetch = (into) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest("/bench.Bytes/Get", identity, identity, Buffer.alloc(0), (error, bytes) => {
          if (error) return reject(error);
          into.set(bytes);
          resolve();
        });
      });
    const stop = () => {
      client.close();
      child.kill();
    };
    return { fetch, stop };
  },
};
