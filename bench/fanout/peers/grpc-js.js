/** grpc-js: one channel per worker, one unary call to each. */
import { fileURLToPath } from "node:url";
import { credentials, loadPackageDefinition, Server, ServerCredentials } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { startWorkers } from "../workers.js";

const proto = fileURLToPath(new URL("../../rpc/record.proto", import.meta.url));
const { Echo } = loadPackageDefinition(loadSync(proto)).bench;

export async function serve(path) {
  const server = new Server();
  server.addService(Echo.service, { Touch: ({ request }, callback) => callback(null, { id: request.id, ok: true }) });
  await new Promise((resolve, reject) =>
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
}

export async function start(count, address) {
  const { addresses, stop } = await startWorkers("grpc-js", count, address);
  const clients = addresses.map((path) => new Echo(`unix:${path}`, credentials.createInsecure()));
  const touch = (client, record) =>
    new Promise((resolve, reject) =>
      client.Touch(record, (error, answer) => (error ? reject(error) : resolve(answer))),
    );
  return { round: (record) => Promise.all(clients.map((client) => touch(client, record))), close: stop };
}
