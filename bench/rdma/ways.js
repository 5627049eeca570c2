/**
 * The ways in which bytes get from another process into a buffer of this one. Each is told how many bytes, and answers with a
 * function that fetches them once into the same buffer.
 *
 * @typedef {{ fetch: (into: Uint8Array) => Promise<void> | void, stop: () => unknown }} Way
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { Client, credentials } from "@grpc/grpc-js";
import { loadDriver } from "../viceroy/prepare.js";

const server = fileURLToPath(new URL("server.js", import.meta.url));
const same = (bytes) => bytes;

function started(kind, size, path) {
  rmSync(path, { force: true });
  const child = fork(server, [kind, String(size), path], { serialization: "advanced" });
  return once(child, "message").then(() => child);
}

/** By an RdmaBuffer, over one transport. */
const rdma = (transport) => async (size) => {
  const keepers = (await loadDriver()).spawnKeepers(1);
  const buffer = await keepers.at(0).make.callOne(transport === "shared", size);
  await buffer.open({ transports: [transport] });
  return { fetch: (into) => buffer.readInto(into), stop: () => keepers.stop() };
};

/** @type {Record<string, (size: number, path: string) => Promise<Way>>} */
export const ways = {
  shared: rdma("shared"),
  vm: rdma("vm"),
  "vm on huge pages": rdma("vm"),
  stream: rdma("stream"),
  async call(size) {
    const keepers = (await loadDriver()).spawnKeepers(1);
    await keepers.at(0).make.callOne(false, size);
    const fetch = async (into) => into.set(await keepers.at(0).bytes.callOne(size));
    return { fetch, stop: () => keepers.stop() };
  },
  /** The limit of messages: a Unix socket, asked with one byte. */
  async socket(size, path) {
    const child = await started("socket", size, path);
    let into = new Uint8Array(size);
    let got = 0;
    let done = () => {};
    const onread = {
      buffer: Buffer.allocUnsafe(256 * 1024),
      callback(length, buffer) {
        into.set(buffer.subarray(0, length), got);
        got += length;
        if (got === size) done();
        return true;
      },
    };
    const socket = connect({ path, onread });
    await once(socket, "connect");
    const fetch = (target) => {
      into = target;
      got = 0;
      return new Promise((resolve) => {
        done = resolve;
        socket.write("x");
      });
    };
    return { fetch, stop: () => child.kill() };
  },
  async "process-send"(size, path) {
    const child = await started("process-send", size, path);
    const fetch = async (into) => {
      child.send("x");
      const [bytes] = await once(child, "message");
      into.set(bytes);
    };
    return { fetch, stop: () => child.kill() };
  },
  async "grpc-js"(size, path) {
    const child = await started("grpc-js", size, path);
    const options = { "grpc.max_receive_message_length": -1 };
    const client = new Client(`unix:${path}`, credentials.createInsecure(), options);
    const fetch = (into) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest("/bench.Bytes/Get", same, same, Buffer.alloc(0), (error, bytes) => {
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
