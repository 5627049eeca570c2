/**
 * A byte pipe over a net.Socket, which the transports unix/, tcp/ and tls/ share. Each write becomes one system call.
 * Bytes are read directly into the memory of the link where Node.js allows that. Batches, and other short writes, go directly to
 * the file descriptor of the socket if the socket has nothing queued.
 */

import { writeSync } from "node:fs";
import { type ConnectOpts, Socket, type SocketConstructorOpts } from "node:net";
import { HandshakeError } from "../../handshake/errors.js";
import { type PausablePipe, type Pipe, type PipeSink, SHORT_WRITE_BYTES, totalBytes } from "../pipe.js";
import { reportTransfer } from "../report-transfer.js";
import { descriptorOf, handleOf, keepUnreadBytes } from "./unread-bytes.js";

/** The size of the buffer for reads before the link is attached. */
const EARLY_BYTES = 4096;

/** The original function, because a program may replace the functions of `fs`. */
const writeToDescriptor: typeof writeSync = writeSync;
const joinBuffer = Buffer.allocUnsafeSlow(SHORT_WRITE_BYTES);

class SocketPipe implements PausablePipe {
  readonly #socket: Socket;
  #sink: PipeSink | undefined;
  /** The memory of the link into which the socket reads. */
  #target: Uint8Array | undefined;
  readonly #earlyChunks: Uint8Array[] = [];
  #error: Error | undefined;
  #closed = false;
  /** Whether the connection carries the bytes unencrypted. */
  readonly #isPlain: boolean;
  /** The handle of the socket, and its descriptor. They are kept, because a handle is asked for its descriptor by a native call. */
  #handle: object | null | undefined;
  #descriptor = -1;

  constructor(make: (pipe: SocketPipe) => Socket, plain = true) {
    const socket = make(this);
    this.#socket = socket;
    this.#isPlain = plain;
    socket.unref();
    if (plain) keepUnreadBytes(socket, (bytes) => this.receive(bytes));
    socket.on("error", (error) => {
      this.#error ??= error;
    });
    socket.once("close", () => this.#end());
  }

  /** The error with which the pipe has ended. */
  get failure(): Error | undefined {
    return this.#error;
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    for (const bytes of this.#earlyChunks.splice(0)) this.receive(bytes);
    if (this.#closed) sink.closed(this.#error);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    const socket = this.#socket;
    if (!socket.writable) {
      queueMicrotask(done);
      return;
    }
    const rest = this.#writeDirectly(chunks);
    if (rest === undefined) {
      done();
      return;
    }
    const last = rest.length - 1;
    if (last > 0) socket.cork();
    for (let i = 0; i < last; i++) socket.write(rest[i]!);
    socket.write(rest[last]!, done);
    if (last > 0) socket.uncork();
  }

  /**
   * Writes directly to the file descriptor, if the socket has nothing queued. A write through the stream allocates a
   * request object, takes a tick to complete, and runs async hooks in processes with actors. That costs more than the system call.
   */
  writeNow(bytes: Uint8Array, length: number): number {
    const descriptor = this.#freeDescriptor();
    if (descriptor < 0) return 0;
    reportTransfer(length);
    return tryWrite(descriptor, bytes, length);
  }

  /**
   * Writes short chunks directly, as `writeNow` does.
   * @returns the chunks that the socket has to write, or undefined if there are none
   */
  #writeDirectly(chunks: readonly Uint8Array[]): readonly Uint8Array[] | undefined {
    const descriptor = this.#freeDescriptor();
    const short = descriptor < 0 ? undefined : joinIfShort(chunks);
    if (short === undefined) return chunks;
    const written = tryWrite(descriptor, short, short.length);
    if (written === 0) return chunks;
    return written === short.length ? undefined : [short.slice(written)];
  }

  /**
   * Returns the file descriptor, or -1 if bytes must go through the stream of the socket. It is no getter, because V8 never
   * inlines private getters.
   */
  #freeDescriptor(): number {
    const socket = this.#socket;
    if (!this.#isPlain || !socket.writable || socket.writableLength > 0 || socket.connecting) return -1;
    const handle = handleOf(socket);
    if (handle !== this.#handle) {
      this.#handle = handle;
      this.#descriptor = descriptorOf(socket);
    }
    return this.#descriptor;
  }

  close(): void {
    this.#socket.destroySoon();
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  ref(): void {
    this.#socket.ref();
  }

  unref(): void {
    this.#socket.unref();
  }

  /** Returns the memory for the next read. */
  buffer(): Uint8Array {
    this.#target = this.#sink?.buffer();
    return this.#target ?? new Uint8Array(EARLY_BYTES);
  }

  /** `n` bytes were read into `bytes`, which `buffer` has returned. */
  received(n: number, bytes: Uint8Array): void {
    reportTransfer(n);
    if (bytes === this.#target && this.#sink !== undefined) this.#sink.received(n);
    else this.receive(bytes.slice(0, n));
  }

  /** Delivers bytes that were read into other memory. */
  receive(bytes: Uint8Array): void {
    const sink = this.#sink;
    if (sink === undefined) {
      this.#earlyChunks.push(bytes);
      return;
    }
    for (let at = 0; at < bytes.length; ) {
      const target = sink.buffer();
      const size = Math.min(target.length, bytes.length - at);
      target.set(size === bytes.length ? bytes : bytes.subarray(at, at + size));
      sink.received(size);
      at += size;
    }
  }

  #end(): void {
    this.#closed = true;
    this.#sink?.closed(this.#error);
  }
}

/**
 * Joins chunks in a buffer that the next call reuses.
 * @returns undefined if the chunks are not short
 */
function joinIfShort(chunks: readonly Uint8Array[]): Uint8Array | undefined {
  if (totalBytes(chunks) > SHORT_WRITE_BYTES) return undefined;
  if (chunks.length === 1) return chunks[0];
  let at = 0;
  for (const chunk of chunks) {
    joinBuffer.set(chunk, at);
    at += chunk.length;
  }
  return joinBuffer.subarray(0, at);
}

/**
 * Writes the first `length` bytes to a file descriptor.
 * @returns the number of bytes written
 */
function tryWrite(descriptor: number, bytes: Uint8Array, length: number): number {
  try {
    return writeToDescriptor(descriptor, bytes, 0, length);
  } catch {
    // The socket buffer is full or the connection has ended. The socket handles both.
    return 0;
  }
}

/** Returns the `onread` option of a socket that reads into the memory of a link. */
function onreadOptions(pipe: SocketPipe): Required<ConnectOpts>["onread"] {
  return {
    buffer: () => pipe.buffer(),
    callback(n, bytes) {
      pipe.received(n, bytes);
      return true;
    },
  };
}

/** Creates a pipe over an inherited file descriptor, and takes ownership of the descriptor. */
export function fdPipe(fd: number): Pipe {
  return new SocketPipe((pipe) => {
    const options: SocketConstructorOpts & ConnectOpts = {
      fd,
      readable: true,
      writable: true,
      onread: onreadOptions(pipe),
    };
    return new Socket(options);
  });
}

/**
 * Connects a socket and creates a pipe over it.
 * @param make creates the socket, with the given `onread` if possible; otherwise it passes the bytes to `receive`
 * @param ready the event after which bytes can be sent and received
 * @param what the address, for errors
 * @param signal aborts the attempt; it has no effect after connecting
 * @returns a promise that rejects if the connection fails or the peer is not trusted
 */
export function connectPipe(
  make: (onread: Required<ConnectOpts>["onread"], receive: (bytes: Uint8Array) => void) => Socket,
  ready: "connect" | "secureConnect",
  what: string,
  signal: AbortSignal | undefined,
): Promise<PausablePipe> {
  return new Promise((resolve, reject) => {
    let socket: Socket | undefined;
    const pipe = new SocketPipe((made) => {
      socket = make(onreadOptions(made), (bytes) => made.receive(bytes));
      return socket;
    }, ready === "connect");
    const abort = () => pipe.destroy(abortedError(what, signal));
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted === true) abort();
    socket?.once(ready, () => {
      signal?.removeEventListener("abort", abort);
      resolve(pipe);
    });
    socket?.once("close", () => {
      signal?.removeEventListener("abort", abort);
      reject(pipe.failure ?? new Error(`cannot connect to ${what}: it closed at once`));
    });
  });
}

/** Keeps the class of a HandshakeError: its reason decides whether the connection is attempted again. */
function abortedError(what: string, signal: AbortSignal | undefined): Error {
  const { reason } = signal ?? {};
  const text = `cannot connect to ${what}: ${reason instanceof Error ? reason.message : "it was given up"}`;
  return reason instanceof HandshakeError ? new HandshakeError(reason.reason, text) : new Error(text);
}

/** Creates a pipe over a TLS socket. The socket is read as a stream, because the bytes of the connection are encrypted. */
export function streamPipe(socket: Socket): Pipe {
  return new SocketPipe((pipe) => socket.on("data", (bytes: Uint8Array) => pipe.receive(bytes)), false);
}

/**
 * Creates a pipe over an existing socket. The caller may only destroy the socket afterwards.
 * @param seen the bytes that were read from the socket already, with which the pipe begins
 */
export function socketPipe(socket: Socket, seen?: Uint8Array): PausablePipe {
  return new SocketPipe((pipe) => {
    if (seen !== undefined && seen.length > 0) pipe.receive(seen);
    return moveToReadingSocket(socket, pipe);
  });
}

/**
 * Moves a connection to a new socket that reads into memory of the link. Only a socket that was created with `onread`
 * can do that; other sockets allocate 64 KiB for each read and pass the bytes through a stream, which costs 2 us.
 * Node.js has no public option to create the sockets of `spawn` and servers with `onread`. If the connection cannot be
 * moved, the socket is used as it is.
 */
function moveToReadingSocket(socket: Socket, pipe: SocketPipe): Socket {
  const owner = socket as unknown as { _handle?: object | null };
  const handle = owner._handle;
  if (!handle) return socket.on("data", (bytes: Uint8Array) => pipe.receive(bytes));
  owner._handle = null;
  const options = { handle, readable: true, writable: true, onread: onreadOptions(pipe) };
  const moved = new Socket(options as SocketConstructorOpts);
  socket.once("close", () => moved.destroy());
  return moved;
}
