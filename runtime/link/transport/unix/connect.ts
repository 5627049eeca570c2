/** Byte pipes between processes of one machine: over a Unix socket, and beside it through shared memory where both can. */
import { statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { systemRandom } from "../../clock.js";
import type { Pipe } from "../pipe.js";
import { joinSharedMemory, offerSharedMemory } from "../shared-memory/pipe.js";
import { sharedMemoryAddon } from "../shared-memory/select-addon.js";
import { connectPipe, fdPipe, socketPipe } from "../socket/pipe.js";

/**
 * @param signal gives the attempt up
 * @returns a pipe to the socket at `path`; rejects when nobody listens there
 */
export async function connectUnix(path: string, signal?: AbortSignal): Promise<Pipe> {
  return offerSharedMemory(await connectUnixSocket(path, signal), systemRandom, sharedMemoryAddon);
}

/** The same over the socket alone, for bulk bytes: rings are for what is short. */
export function connectUnixSocket(path: string, signal?: AbortSignal): Promise<Pipe> {
  return connectPipe((onread) => connect({ path, onread }), "connect", path, signal).catch((cause: unknown) => {
    throw isNotSocket(path) ? new Error(`cannot connect to ${path}: it is not a socket`, { cause }) : cause;
  });
}

/** Whether something is at a path that nobody can ever listen at. The system says of files that they refuse connections. */
function isNotSocket(path: string): boolean {
  try {
    return !statSync(path).isSocket();
  } catch {
    return false;
  }
}

/** A pipe to a process that was just started with the other end of this socket, which nobody has read from. */
export function childPipe(socket: Socket): Pipe {
  return offerSharedMemory(socketPipe(socket), systemRandom, sharedMemoryAddon);
}

/** A pipe to the process that has started this one with a socket as file descriptor `fd`, which it owns from now on. */
export function parentPipe(fd: number): Pipe {
  return joinSharedMemory(fdPipe(fd), sharedMemoryAddon);
}

/**
 * Listens at `path`, which must not exist; who may connect is decided by the folder's permissions.
 * @returns the server, which does not keep the process alive
 */
export function listenUnix(path: string, accept: (pipe: Pipe) => void): Promise<Server> {
  return listenUnixSocket(path, (pipe) => accept(joinSharedMemory(pipe, sharedMemoryAddon)));
}

/** The same for those who come by `connectSocket`. */
export function listenUnixSocket(path: string, accept: (pipe: Pipe) => void): Promise<Server> {
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
