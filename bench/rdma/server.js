/** `server.js <kind> <bytes> <path>`: hands out the same bytes whenever it is asked, in a way that is not ours. */
import { createServer } from "node:net";
import { Server, ServerCredentials } from "@grpc/grpc-js";

const [kind, size, path] = process.argv.slice(2);
const bytes = Buffer.alloc(Number(size), 1);
const same = (value) => value;
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
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    };
    server.addService(service, { Get: (_, callback) => callback(null, bytes) });
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), ready);
  },
};
kinds[kind]();
