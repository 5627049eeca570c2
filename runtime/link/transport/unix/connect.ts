/**
 * Byte pipes between processes of one machine: over a Unix socket, and through shared memory beside the socket where
 * both processes support that.
 */
import { statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { systemRandom } from "../../clock.js";
import type { Pipe } from "../pipe.js";
import { joinSharedMemory, offerSharedMemory } from "../shared-memory/pipe.js";
import { sharedMemoryAddon } from "../shared-memory/select-addon.js";
import { connectPipe, fdPipe, socketPipe } from "../socket/pipe.js";

/**
 * Connects to the socket at `path`.
 * @param signal aborts the attempt
 * @returns a promise that rejects if no process listens there
 */
export async function connectUnix(path: string, signal?: AbortSignal): Promise<Pipe> {
  return offerSharedMemory(await connectUnixSocket(path, signal), systemRandom, sharedMemoryAddon);
}

/** Connects over the socket alone, for bulk data. The rings of shared memory are for short messages. */
export function connectUnixSocket(path: string, signal?: AbortSignal): Promise<Pipe> {
  return connectPipe((onread) => connect({ path, onread }), "connect", path, signal).catch((cause: unknown) => {
    throw isNotSocket(path) ? new Error(`cannot connect to ${path}: it is not a socket`, { cause }) : cause;
  });
}

/** Returns whether a path exists and is not a socket. The system reports such files as sockets that refuse connections. */
function isNotSocket(path: string): boolean {
  try {
    // Without `bigint`, realpathSync of Node.js would take every later path for that of a socket, and not follow links.
    return !statSync(path, { bigint: true }).isSocket();
  } catch {
    return false;
  }
}

/** Creates a pipe to a child process that has the other end of this socket. The socket must not have been read from. */
export function childPipe(socket: Socket): Pipe {
  return offerSharedMemory(socketPipe(socket), systemRandom, sharedMemoryAddon);
}

/** Creates a pipe to the parent process over the socket with the file descriptor `fd`, and takes ownership of the descriptor. */
export function parentPipe(fd: number): Pipe {
  return joinSharedMemory(fdPipe(fd), sharedMemoryAddon);
}

/**
 * Listens at `path`, which must not exist. The permissions of the folder decide who can connect.
 * @returns the server, which does not keep the process alive
 */
export function listenUnix(path: string, accept: (pipe: Pipe) => void): Promise<Server> {
  return listenUnixSocket(path, (pipe) => accept(joinSharedMemory(pipe, sharedMemoryAddon)));
}

/** Listens at `path` for connections of `connectUnixSocket`. */
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
