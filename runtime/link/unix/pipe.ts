/** A byte pipe over a Unix socket: between processes of one machine, of one user. */
import { connect, createServer, type Server } from "node:net";
import type { Pipe } from "../pipe.js";
import { connecting, socketPipe } from "../socket-pipe.js";

/**
 * @param signal gives the attempt up
 * @returns a pipe to the socket at `path`; rejects when nobody listens there
 */
export function connectUnix(path: string, signal?: AbortSignal): Promise<Pipe> {
  return connecting((onread) => connect({ path, onread }), "connect", path, signal);
}

/**
 * Listens at `path`, which must not exist; who may connect is decided by the folder's permissions.
 * @returns the server, which does not keep the process alive
 */
export function listenUnix(path: string, accept: (pipe: Pipe) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => accept(socketPipe(socket)));
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      server.unref();
      resolve(server);
    });
  });
}
