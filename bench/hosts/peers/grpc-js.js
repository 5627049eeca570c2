/** grpc-js over TCP or TLS, as its documentation shows it: proto-loader, one channel. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { credentials, loadPackageDefinition, Server, ServerCredentials } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { startServer } from "../start-server.js";

const proto = fileURLToPath(new URL("../../rpc/record.proto", import.meta.url));
// `oneofs: false` and `defaults: false`: absent optionals are absent, as everywhere else.
const { Echo } = loadPackageDefinition(loadSync(proto, { enums: Number })).bench;
const limits = { "grpc.max_receive_message_length": 16 << 20 };

export async function serve({ address, tls }) {
  const server = new Server(limits);
  server.addService(Echo.service, {
    Echo: ({ request }, callback) => callback(null, request),
    Push: ({ request }, callback) => callback(null, { id: request.data.length, ok: true }),
  });
  const pair = tls && { cert_chain: readFileSync(tls.cert), private_key: readFileSync(tls.key) };
  const own = tls
    ? ServerCredentials.createSsl(readFileSync(tls.ca), [pair], true)
    : ServerCredentials.createInsecure();
  return new Promise((resolve, reject) =>
    server.bindAsync(`${address}:0`, own, (error, port) => (error ? reject(error) : resolve(port))),
  );
}

export async function start(plan) {
  const { port, stop } = await startServer("grpc-js", plan);
  const { address, tls } = plan;
  const files = tls && [tls.ca, tls.key, tls.cert].map((file) => readFileSync(file));
  const own = tls ? credentials.createSsl(...files) : credentials.createInsecure();
  const client = new Echo(`${address}:${port}`, own, limits);
  const ask = (method, request) =>
    new Promise((resolve, reject) =>
      client[method](request, (error, answer) => (error ? reject(error) : resolve(answer))),
    );
  return {
    call: (record) => ask("Echo", record),
    push: async (data) => (await ask("Push", { data })).id,
    async close() {
      client.close();
      await stop();
    },
  };
}
