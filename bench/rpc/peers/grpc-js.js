/** grpc-js on a Unix socket, as its documentation shows it: proto-loader, insecure credentials, one channel. */
import { fileURLToPath } from "node:url";
import { credentials, loadPackageDefinition, Server, ServerCredentials } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const proto = fileURLToPath(new URL("../record.proto", import.meta.url));
// `oneofs: false` and `defaults: false`: absent optionals are absent, as everywhere else.
const { Echo } = loadPackageDefinition(loadSync(proto, { enums: Number })).bench;

export async function serve(path) {
  const server = new Server();
  server.addService(Echo.service, { Echo: ({ request }, callback) => callback(null, request) });
  await new Promise((resolve, reject) =>
    server.bindAsync(`unix:${path}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    ),
  );
}

export async function connect(path) {
  const client = new Echo(`unix:${path}`, credentials.createInsecure());
  return {
    call: (record) =>
      new Promise((resolve, reject) => client.Echo(record, (error, echo) => (error ? reject(error) : resolve(echo)))),
    close: () => client.close(),
  };
}
