/**
 * Delivers what a peer has sent before a write to it failed. Node.js destroys a socket when a write fails, and drops
 * the bytes that have arrived by then. A peer that sends its last message and exits would lose that message whenever
 * a write reaches its closed socket before the message is read.
 */

import { readSync } from "node:fs";
import type { Socket } from "node:net";

/** The original function, because a program may replace the functions of `fs`. */
const readFromDescriptor: typeof readSync = readSync;

/** The size of one read. */
const READ_BYTES = 64 * 1024;

/**
 * The number of bytes that are read at most. It is above the largest receive buffer that Linux gives a connection by
 * default, and limits what a peer can send that has only closed its reading side.
 */
const MAX_BYTES = 8 * 1024 * 1024;

/** The errors of a write to a connection that the peer has closed. */
const CLOSED_BY_PEER: readonly (string | undefined)[] = ["EPIPE", "ECONNRESET"];

/** The internal handle of a socket, undefined after the socket is closed. */
interface SocketWithHandle {
  readonly _handle?: { readonly fd?: number } | null;
}

/** Returns the internal handle of a socket. It has the same descriptor until the socket is closed. */
export function handleOf(socket: Socket): object | null | undefined {
  return (socket as unknown as SocketWithHandle)._handle;
}

/** Returns the file descriptor of a socket, or -1. Node.js has no public property for it, and Windows has none at all. */
export function descriptorOf(socket: Socket): number {
  return (socket as unknown as SocketWithHandle)._handle?.fd ?? -1;
}

/**
 * Makes a socket deliver the bytes that are in its receive buffer before it closes because of a failed write.
 * @param socket carries the bytes unencrypted
 * @param receive takes the bytes, in a later microtask than that of the write
 */
export function keepUnreadBytes(socket: Socket, receive: (bytes: Uint8Array) => void): void {
  const destroy = socket._destroy.bind(socket);
  socket._destroy = (error, done) => {
    const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
    if (syscall !== "write" || !CLOSED_BY_PEER.includes(code)) {
      destroy(error, done);
      return;
    }
    // The receiver is in the middle of a write. The socket reads nothing itself any more.
    process.nextTick(() => {
      try {
        readRest(descriptorOf(socket), receive);
      } finally {
        destroy(error, done);
      }
    });
  };
}

function readRest(descriptor: number, receive: (bytes: Uint8Array) => void): void {
  if (descriptor < 0) return;
  for (let left = MAX_BYTES; left > 0; ) {
    const bytes = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, left));
    const size = tryRead(descriptor, bytes);
    if (size === 0) return;
    left -= size;
    receive(bytes.subarray(0, size));
  }
}

/** @returns the number of bytes read, 0 if there are none */
function tryRead(descriptor: number, bytes: Uint8Array): number {
  try {
    return readFromDescriptor(descriptor, bytes);
  } catch {
    // Nothing is left to read, or the system has dropped it with the connection.
    return 0;
  }
}
