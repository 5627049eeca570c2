/**
 * The limit of messaging between two processes without an addon: frames [u32 length][u32 id][payload] over net.Socket on a Unix socket.
 * All frames of one tick go out in one write, and are encoded directly into the batch. Short writes go to the socket's descriptor instead of
 * its stream, as in links. There is no mailbox, credit, cancellation, supervision or context.
 */
import { writeSync } from "node:fs";
import net from "node:net";

const headerBytes = 8;
const batchBytes = 1 << 16;
const readBytes = 1 << 18;

function newBatch(size) {
  const bytes = Buffer.from(new ArrayBuffer(size));
  return { bytes, view: new DataView(bytes.buffer), socketDone: undefined };
}

/** Writes frames: `begin` returns the position of the payload, `end` closes the frame. */
export class FrameWriter {
  #write;
  #free = [];
  #armed = false;
  #flushLater = () => {
    this.#armed = false;
    this.flush();
  };
  /** The batch being filled: { bytes, view }. */
  batch = newBatch(batchBytes * 2);
  #at = 0;

  /** @param {(bytes: Uint8Array, done: () => void) => void} write */
  constructor(write) {
    this.#write = write;
  }

  begin(payloadBytes) {
    const need = this.#at + headerBytes + payloadBytes;
    if (need > this.batch.bytes.length) {
      this.flush();
      if (headerBytes + payloadBytes > this.batch.bytes.length) this.batch = newBatch(headerBytes + payloadBytes);
    }
    return this.#at + headerBytes;
  }

  end(end, id) {
    const { view } = this.batch;
    view.setUint32(this.#at, end - this.#at - headerBytes, true);
    view.setUint32(this.#at + 4, id, true);
    this.#at = end;
    if (end > batchBytes) this.flush();
    else if (!this.#armed) {
      this.#armed = true;
      process.nextTick(this.#flushLater);
    }
  }

  flush() {
    if (this.#at === 0) return;
    const { batch } = this;
    const length = this.#at;
    this.#at = 0;
    this.batch = this.#free.pop() ?? newBatch(batchBytes * 2);
    this.#write(batch.bytes.subarray(0, length), () => this.#free.push(batch));
  }
}

/**
 * Reads frames. Whole frames are passed on in place. Only a frame that continues in the next read is copied.
 *
 * @param {(bytes: Buffer, view: DataView, start: number, end: number, id: number) => void} onFrame
 * @returns {(chunk: Buffer, length: number) => void}
 */
export function frameReader(onFrame) {
  let rest = empty;
  let view;
  let viewed;
  /** A large frame that is arriving, and the number of its bytes that have arrived. */
  let large;
  let filled = 0;
  return (chunk, length) => {
    let bytes = chunk;
    let end = length;
    let from = 0;
    if (large !== undefined) {
      from = chunk.copy(large, filled, 0, Math.min(length, large.length - filled));
      filled += from;
      if (filled < large.length) return;
      const whole = new DataView(large.buffer, large.byteOffset, large.byteLength);
      onFrame(large, whole, headerBytes, large.length, whole.getUint32(4, true));
      large = undefined;
    } else if (rest.length > 0) {
      bytes = Buffer.concat([rest, chunk.subarray(0, length)]);
      end = bytes.length;
    }
    if (viewed !== bytes) {
      view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      viewed = bytes;
    }
    let at = from;
    while (end - at >= headerBytes) {
      const frameEnd = at + headerBytes + view.getUint32(at, true);
      if (frameEnd > end) {
        if (frameEnd - at < readBytes) break;
        large = Buffer.allocUnsafeSlow(frameEnd - at);
        filled = bytes.copy(large, 0, at, end);
        rest = empty;
        return;
      }
      onFrame(bytes, view, at + headerBytes, frameEnd, view.getUint32(at + 4, true));
      at = frameEnd;
    }
    rest = at < end ? Buffer.from(bytes.subarray(at, end)) : empty;
  };
}
const empty = Buffer.alloc(0);

/** Writes of at most this length go to the descriptor, as in links. */
const shortBytes = 16_384;

/**
 * Writes to a socket at the lowest cost: short writes go to its descriptor if nothing waits in the stream; longer writes, and bytes that
 * the kernel does not accept, go to the stream. Not for TLS.
 *
 * @returns {(bytes: Uint8Array, done: () => void) => void}
 */
export function writingTo(socket) {
  return (bytes, done) => {
    const taken = bytes.length <= shortBytes && socket.writableLength === 0 ? writeNow(socket, bytes) : 0;
    if (taken === bytes.length) done();
    else socket.write(bytes.subarray(taken), done);
  };
}

function writeNow(socket, bytes) {
  try {
    return writeSync(socket._handle.fd, bytes);
  } catch {
    // The kernel has no room, so the stream waits for room.
    return 0;
  }
}

function readInto(receive) {
  const buffer = Buffer.allocUnsafeSlow(readBytes);
  return {
    buffer,
    callback(length) {
      receive(buffer, length);
      return true;
    },
  };
}

/**
 * Listens on a Unix socket. `onConnection` gets the socket and returns the function that receives its bytes. net.Server has no
 * `onread`, so the accepted handle is put into a socket that has it.
 *
 * @param {string} path
 * @param {(socket: net.Socket) => (chunk: Buffer, length: number) => void} onConnection
 */
export async function listen(path, onConnection) {
  await listenAt(path, onConnection);
}

/** Listens at any address that `server.listen` accepts. Returns the server. */
export async function listenAt(where, onConnection) {
  const server = net.createServer({ pauseOnConnect: true, noDelay: true }, (accepted) => {
    const onread = readInto((chunk, length) => receive(chunk, length));
    const socket = new net.Socket({ handle: accepted._handle, readable: true, writable: true, onread });
    const receive = onConnection(socket);
    socket.resume();
  });
  await new Promise((resolve) => server.listen(where, resolve));
  return server;
}

/** Connects to a Unix socket and reads into one reused buffer. */
export async function connectTo(path, receive) {
  return connectAt({ path }, receive);
}

/** Connects to any address that `net.connect` accepts. */
export async function connectAt(where, receive) {
  const socket = net.connect({ ...where, noDelay: true, onread: readInto(receive) });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
}
