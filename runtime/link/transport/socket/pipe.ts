/**
 * A byte pipe over a net.Socket, whatever it is connected to: what the pipes of unix/, tcp/ and tls/ have in common. One
 * write for many frames comes from the link; here each becomes one system call. Bytes are read straight into the link's
 * buffer where Node allows it: for sockets that are made here. What is short is written to the socket's descriptor, if
 * nothing waits before it.
 */
import { writeSync } from "node:fs";
import { type ConnectOpts, Socket, type SocketConstructorOpts } from "node:net";
import { type Pipe, type PipeSink, SHORT_WRITE_BYTES, totalBytes } from "../pipe.js";

/** What `onread` reads into before the link is there. */
const EARLY_BYTES = 4096;

/** As it is now, whatever a program makes of `fs` later. */
const writeToDescriptor: typeof writeSync = writeSync;
const joinBuffer = Buffer.allocUnsafeSlow(SHORT_WRITE_BYTES);

/** What stands behind a socket; undefined once it is closed. */
interface SocketWithHandle {
  readonly _handle?: { readonly fd?: number } | null;
}

class SocketPipe implements Pipe {
  readonly #socket: Socket;
  #sink: PipeSink | undefined;
  /** The link's memory that is being read into. */
  #target: Uint8Array | undefined;
  readonly #earlyChunks: Uint8Array[] = [];
  #error: Error | undefined;
  #closed = false;
  /** Whether its bytes are those of the connection: not so where they are encrypted. */
  readonly #isPlain: boolean;

  constructor(make: (pipe: SocketPipe) => Socket, plain = true) {
    const socket = make(this);
    this.#socket = socket;
    this.#isPlain = plain;
    socket.unref();
    socket.on("error", (error) => {
      this.#error ??= error;
    });
    socket.once("close", () => this.#end());
  }

  /** Why it ended. */
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
   * Short ones go past the socket, if nothing waits in that: a write of a stream takes an object for the request, a tick for
   * its end and, where an AsyncLocalStorage is in use, as it is in processes with actors, hooks for both, which is more
   * than the system call.
   * @returns what the socket is to write; undefined: nothing
   */
  #writeDirectly(chunks: readonly Uint8Array[]): readonly Uint8Array[] | undefined {
    const socket = this.#socket;
    if (!this.#isPlain || socket.writableLength > 0 || socket.connecting) return chunks;
    // Nothing public leads there; on Windows there is none.
    const descriptor = (socket as unknown as SocketWithHandle)._handle?.fd ?? -1;
    const short = descriptor < 0 ? undefined : joinIfShort(chunks);
    if (short === undefined) return chunks;
    const written = tryWrite(descriptor, short);
    if (written === 0) return chunks;
    return written === short.length ? undefined : [short.slice(written)];
  }

  close(): void {
    this.#socket.destroySoon();
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  ref(): void {
    this.#socket.ref();
  }

  unref(): void {
    this.#socket.unref();
  }

  /** Where to read to. */
  buffer(): Uint8Array {
    this.#target = this.#sink?.buffer();
    return this.#target ?? new Uint8Array(EARLY_BYTES);
  }

  /** `n` bytes were read into `bytes`, which is what `buffer` returned last. */
  received(n: number, bytes: Uint8Array): void {
    if (bytes === this.#target && this.#sink !== undefined) this.#sink.received(n);
    else this.receive(bytes.slice(0, n));
  }

  /** Bytes that were read elsewhere. */
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

/** Chunks as one, to be used at once; undefined: they are not short. */
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

/** @returns how many bytes were taken */
function tryWrite(descriptor: number, bytes: Uint8Array): number {
  try {
    return writeToDescriptor(descriptor, bytes);
  } catch {
    // There is no room, or the connection is gone: the socket deals with either.
    return 0;
  }
}

/** `onread` of a socket that reads into a link's buffer. */
function onreadOptions(pipe: SocketPipe): Required<ConnectOpts>["onread"] {
  return {
    buffer: () => pipe.buffer(),
    callback(n, bytes) {
      pipe.received(n, bytes);
      return true;
    },
  };
}

/** A pipe over an inherited file descriptor, which it owns from now on. */
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
 * A pipe over a socket that is being connected.
 * @param make makes the socket; its `onread`, where that can be had, is the one given
 * @param ready the event after which bytes can go both ways
 * @param what is connected to, as errors name it
 * @param signal gives it up; no more looked at once connected
 * @returns rejects when there is nobody, or nobody to be trusted
 */
export function connectPipe(
  make: (onread: Required<ConnectOpts>["onread"]) => Socket,
  ready: "connect" | "secureConnect",
  what: string,
  signal: AbortSignal | undefined,
): Promise<Pipe> {
  return new Promise((resolve, reject) => {
    let socket: Socket | undefined;
    const pipe = new SocketPipe((made) => {
      socket = make(onreadOptions(made));
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

function abortedError(what: string, signal: AbortSignal | undefined): Error {
  const { reason } = signal ?? {};
  return new Error(`cannot connect to ${what}: ${reason instanceof Error ? reason.message : "it was given up"}`);
}

/** A pipe over a TLS socket, which must be read as a stream: what it reads from is encrypted. */
export function streamPipe(socket: Socket): Pipe {
  return new SocketPipe((pipe) => socket.on("data", (bytes: Uint8Array) => pipe.receive(bytes)), false);
}

/** A pipe over a socket that exists already, that nobody has read from, and that is used no more but to destroy it. */
export function socketPipe(socket: Socket): Pipe {
  return new SocketPipe((pipe) => moveToReadingSocket(socket, pipe));
}

/**
 * Only a socket made with `onread` reads into memory of ours; others allocate 64 KiB for each read and pass it through a
 * stream, which costs 2 us. Those that `spawn` and servers make are not made so, and nothing public changes that: so
 * the connection is moved from the one socket to another, or where that cannot be done used as it is.
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
