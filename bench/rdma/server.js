/** `server.js <kind> <bytes> <path>`: sends the same bytes for each request, by a method other than Viceroy. */
import { createServer } from "node:net";
import { Server, ServerCredentials } from "@grpc/grpc-js";

const [kind, size, path] = process.argv.slice(2);
const bytes = Buffer.alloc(Number(size), 1);
const identity = (value) => value;
const ready = () => process.send("ready");

const kinds = {
  socket() {
    createServer((socket) => socket.on("data", () => socket.write(bytes))).listen(path, ready);
  },
  "process-send"() {
    process.on("message", () => process.send(bytes));
    ready();
  },
  "grpc-js"() {
    const server = new Server({ "grpc.max_send_message_length": -1 });
    const get = { path: "/bench.Bytes/Get", requestStream: false, responseStream: false };
    const service = {
      Get: {
        ...get,
        requestSerialize: identity,
        requestDeserialize: identity,
        responseSerialize: identity,
        responseDeserialize: identity,
      },
    };
    server.addService(service, { Get: (_, callback) => callback(null, bytes) });
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), ready);
  },
};
kinds[kind]();
