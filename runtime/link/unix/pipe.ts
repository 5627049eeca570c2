/** Byte pipes between processes of one machine: over a Unix socket, and beside it through shared memory where both can. */
import { statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { systemRandom } from "../clock.js";
import type { Pipe } from "../pipe.js";
import { memoryAddon } from "../shared/choice.js";
import { joiningPipe, offeringPipe } from "../shared/pipe.js";
import { connecting, fdPipe, socketPipe } from "../socket-pipe.js";

/**
 * @param signal gives the attempt up
 * @returns a pipe to the socket at `path`; rejects when nobody listens there
 */
export async function connectUnix(path: string, signal?: AbortSignal): Promise<Pipe> {
  return offeringPipe(await connectSocket(path, signal), systemRandom, memoryAddon);
}

/** The same over the socket alone, for bulk bytes: rings are for what is short. */
export function connectSocket(path: string, signal?: AbortSignal): Promise<Pipe> {
  return connecting((onread) => connect({ path, onread }), "connect", path, signal).catch((cause: unknown) => {
    throw isOtherFile(path) ? new Error(`cannot connect to ${path}: it is not a socket`, { cause }) : cause;
  });
}

/** Whether something is at a path that nobody can ever listen at. The system says of files that they refuse connections. */
function isOtherFile(path: string): boolean {
  try {
    return !statSync(path).isSocket();
  } catch {
    return false;
  }
}

/** A pipe to a process that was just started with the other end of this socket, which nobody has read from. */
export function childPipe(socket: Socket): Pipe {
  return offeringPipe(socketPipe(socket), systemRandom, memoryAddon);
}

/** A pipe to the process that has started this one with a socket as file descriptor `fd`, which it owns from now on. */
export function parentPipe(fd: number): Pipe {
  return joiningPipe(fdPipe(fd), memoryAddon);
}

/**
 * Listens at `path`, which must not exist; who may connect is decided by the folder's permissions.
 * @returns the server, which does not keep the process alive
 */
export function listenUnix(path: string, accept: (pipe: Pipe) => void): Promise<Server> {
  return listenAtSocket(path, (pipe) => accept(joiningPipe(pipe, memoryAddon)));
}

/** The same for those who come by `connectSocket`. */
export function listenAtSocket(path: string, accept: (pipe: Pipe) => void): Promise<Server> {
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
