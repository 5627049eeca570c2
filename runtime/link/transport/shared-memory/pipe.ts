/**
 * A byte pipe between processes of one host through shared memory, beside the Unix socket over which the processes have
 * met. The socket carries everything until both processes have the memory, and reports the end of the pipe. Access was
 * checked when the socket was connected. channel-offer.ts defines the first messages; the addon implements rings and
 * wake-ups (native/rdma/channel/channel.h).
 */
import type { NativeChannel, RdmaAddon } from "../../../native/rdma-addon.js";
import type { Random } from "../../clock.js";
import { deliverBytes, type Pipe, type PipeSink, SHORT_WRITE_BYTES, totalBytes } from "../pipe.js";
import { reportTransfer } from "../report-transfer.js";
import {
  ANSWER_BYTES,
  classifyFirstBytes,
  OFFER_BYTES,
  readAnswer,
  readOffer,
  TOKEN_BYTES,
  writeAnswer,
  writeOffer,
} from "./channel-offer.js";

/**
 * The size of each ring in bytes. It holds four batches of a link (outbox.ts), so that one batch is written while
 * others are read. A ring that is read as fast as it is written uses only its first few pages.
 */
export const RING_BYTES = 256 * 1024;

/** The largest number of bytes that are read in one turn of the event loop. */
const MAX_BYTES_PER_TURN = 1 << 20;

interface RingWrite {
  readonly chunks: readonly Uint8Array[];
  readonly done: () => void;
  /** The index of the next chunk, and below the offset in it. */
  chunk: number;
  at: number;
}

/**
 * The memory into which the sockets of all such pipes of a thread read, once there is a channel. A socket requests its
 * memory long before it reads, and the memory of the link may be in use by then.
 */
const landingBuffer = new Uint8Array(16 * 1024);

const ignoreDone = (): void => {};

/** Returns the addon that provides shared memory. It is called when the addon is needed. */
export type AddonSource = () => RdmaAddon | undefined;

interface OfferedChannel {
  readonly channel: NativeChannel;
  readonly bytes: number;
  readonly offer: Uint8Array;
}

class SharedMemoryPipe implements Pipe, PipeSink {
  readonly #socket: Pipe;
  readonly #addonSource: AddonSource;
  /** Whether this side offers a channel. Otherwise this side may join the channel of the peer. */
  readonly #isOfferer: boolean;
  /** The channel that this side has offered or joined. */
  #channel: NativeChannel | undefined;
  /** The size of each ring of the channel, in bytes. */
  #ringBytes = 0;
  /** The path by which this side sends, or undefined until the first message of the peer decides it. */
  #sendPath: "socket" | "memory" | undefined;
  #sink: PipeSink | undefined;
  /** The first bytes of the peer, or undefined after they were handled. */
  #firstBytes: Uint8Array | undefined;
  #firstFill = 0;
  /**
   * The number of bytes that this side has sent over the socket, and below the number of received ones, both without
   * the first messages.
   */
  #sent = 0;
  #received = 0;
  /** Whether the peer sends through shared memory from now on. */
  #readsMemory = false;
  /** The writes that wait for room in the ring. */
  readonly #waiting: RingWrite[] = [];
  #closing = false;
  #ended = false;

  constructor(socket: Pipe, memory: AddonSource, offered?: OfferedChannel) {
    this.#socket = socket;
    this.#addonSource = memory;
    this.#isOfferer = offered !== undefined;
    this.#firstBytes = new Uint8Array(this.#isOfferer ? ANSWER_BYTES : OFFER_BYTES);
    if (offered === undefined) return;
    this.#channel = offered.channel;
    this.#ringBytes = offered.bytes;
    this.#sendPath = "socket";
    socket.write([offered.offer], ignoreDone);
  }

  /** Whether this side sends through shared memory. */
  get usesSharedMemory(): boolean {
    return this.#sendPath === "memory";
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    this.#socket.open(this);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    if (this.#ended || this.#closing) queueMicrotask(done);
    else if (this.#sendPath === "socket") {
      if (this.#channel !== undefined) for (const { length } of chunks) this.#sent += length;
      this.#socket.write(chunks, done);
    } else {
      this.#waiting.push({ chunks, done, chunk: 0, at: 0 });
      if (this.#sendPath === "memory" && this.#waiting.length === 1) this.#writeRing(this.#channel!);
    }
  }

  writeNow(bytes: Uint8Array, length: number): number {
    if (this.#ended || this.#closing) return 0;
    if (this.#sendPath === "socket") {
      const taken = this.#socket.writeNow?.(bytes, length) ?? 0;
      if (this.#channel !== undefined) this.#sent += taken;
      return taken;
    }
    if (this.#sendPath === undefined || this.#waiting.length > 0) return 0;
    reportTransfer(length);
    const taken = this.#channel!.write(bytes.subarray(0, length), 0);
    if (taken < 0) this.#failPositions();
    return Math.max(taken, 0);
  }

  close(): void {
    if (this.#closing || this.#ended) return;
    // A side that closes before the first message of the peer does not wait for an offer.
    if (this.#sendPath === undefined) this.#switchToSocket();
    this.#closing = true;
    if (this.#waiting.length === 0) this.#socket.close();
  }

  destroy(error?: Error): void {
    this.#end();
    this.#socket.destroy(error);
  }

  ref(): void {
    this.#socket.ref();
  }

  unref(): void {
    this.#socket.unref();
  }

  /** Returns the memory for the next read of the socket. The first message is read alone, without bytes behind it. */
  buffer(): Uint8Array {
    if (this.#firstBytes !== undefined) return this.#firstBytes.subarray(this.#firstFill);
    return this.#channel === undefined ? this.#sink!.buffer() : landingBuffer;
  }

  received(n: number): void {
    if (this.#firstBytes !== undefined) {
      this.#firstFill += n;
      this.#readFirst(this.#firstBytes);
      return;
    }
    if (this.#channel === undefined) {
      if (!this.#ended) this.#sink!.received(n);
      return;
    }
    if (this.#readsMemory) {
      this.#failProtocol("the peer has sent bytes by the socket after those in shared memory");
      return;
    }
    this.#received += n;
    deliverBytes(landingBuffer.subarray(0, n), this.#sink!);
    this.#channel?.resume();
  }

  closed(error?: Error): void {
    const channel = this.#channel;
    // Bytes that were written before the end are still in the ring. At most one ring of them is read, because a peer
    // that has closed its socket could continue to write.
    if (channel !== undefined && this.#firstBytes === undefined) this.#readRing(channel, this.#ringBytes);
    this.#end();
    this.#sink!.closed(error);
  }

  /** Handles the first message of the peer. */
  #readFirst(first: Uint8Array): void {
    const kind = classifyFirstBytes(first, this.#firstFill, first.length);
    if (kind === "more") return;
    this.#firstBytes = undefined;
    if (kind === "else") {
      this.#closeChannel();
      this.#switchToSocket();
      deliverBytes(first.subarray(0, this.#firstFill), this.#sink!);
    } else if (!this.#isOfferer) this.#answerOffer(first);
    else if (readAnswer(first)) this.#switchToMemory(this.#channel!);
    else this.#closeChannel();
  }

  /** Handles the offer of a channel. */
  #answerOffer(bytes: Uint8Array): void {
    this.#channel = this.#sendPath === undefined ? this.#joinChannel(bytes) : undefined;
    if (this.#sendPath === undefined) this.#socket.write([writeAnswer(this.#channel !== undefined)], ignoreDone);
    if (this.#channel === undefined) this.#switchToSocket();
    else this.#switchToMemory(this.#channel);
  }

  /** Joins the offered channel. If that fails, the socket carries everything. */
  #joinChannel(bytes: Uint8Array): NativeChannel | undefined {
    const offer = readOffer(bytes);
    const addon = offer === undefined ? undefined : this.#addonSource();
    if (offer === undefined || addon === undefined) return undefined;
    const { pid, memory, waker, awaited, token } = offer;
    this.#ringBytes = offer.bytes;
    try {
      return new addon.Channel(offer.bytes, token, pid, memory, waker, awaited);
    } catch {
      return undefined;
    }
  }

  #switchToMemory(channel: NativeChannel): void {
    this.#sendPath = "memory";
    channel.begin(this.#sent, () => this.#channelReady(channel));
    this.#writeRing(channel);
  }

  /** Closes the channel, because the peer does not join it. */
  #closeChannel(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  #switchToSocket(): void {
    // A callback may write more. Such writes are queued behind those that wait.
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#socket.write(next.chunks, next.done);
    }
    this.#sendPath = "socket";
  }

  /**
   * The addon reports that there are bytes to read or room to write.
   * @returns false if the addon is to wait until more bytes have come over the socket
   */
  #channelReady(channel: NativeChannel): boolean {
    if (this.#waiting.length > 0) this.#writeRing(channel);
    return this.#channel !== channel || this.#readRing(channel, MAX_BYTES_PER_TURN);
  }

  /**
   * Reads the ring.
   * @returns false if bytes that are still to come over the socket precede those in memory
   */
  #readRing(channel: NativeChannel, limit: number): boolean {
    if (!this.#readsMemory) {
      const before = channel.before();
      if (before < 0) return true;
      if (this.#received < before) return false;
      if (this.#received > before)
        this.#failProtocol("the peer has sent bytes by the socket after those in shared memory");
    }
    this.#readsMemory = true;
    const sink = this.#sink!;
    for (let left = limit; left > 0 && this.#channel === channel; ) {
      const n = channel.read(sink.buffer());
      if (n < 0) this.#failPositions();
      if (n <= 0) break;
      left -= n;
      reportTransfer(n);
      sink.received(n);
    }
    return true;
  }

  /** Writes the waiting writes into the ring, as far as there is room. */
  #writeRing(channel: NativeChannel): void {
    const waiting = this.#waiting;
    for (let write = waiting[0]; write !== undefined; write = waiting[0]) {
      const { chunks, done } = write;
      for (let bytes = chunks[write.chunk]; bytes !== undefined; bytes = chunks[write.chunk]) {
        const taken = channel.write(bytes, write.at);
        if (taken < 0) {
          this.#failPositions();
          return;
        }
        write.at += taken;
        if (write.at < bytes.length) return;
        write.chunk++;
        write.at = 0;
      }
      waiting.shift();
      // A long write completes in a microtask, because the loop could otherwise continue for as long as the peer reads.
      if (totalBytes(chunks) <= SHORT_WRITE_BYTES) done();
      else queueMicrotask(done);
    }
    if (this.#closing) this.#socket.close();
  }

  #failPositions(): void {
    this.#failProtocol("the peer has written positions that cannot be into shared memory");
  }

  #failProtocol(why: string): void {
    this.destroy(new Error(`the connection was ended: ${why}`));
  }

  #end(): void {
    this.#ended = true;
    this.#closeChannel();
    for (const { done } of this.#waiting.splice(0)) queueMicrotask(done);
  }
}

/** Offers a channel over a socket to a process that was just started or dialled. Without an addon, returns the socket. */
export function offerSharedMemory(socket: Pipe, random: Random, memory: AddonSource, bytes = RING_BYTES): Pipe {
  const offered = offerChannel(random, memory(), bytes);
  return offered === undefined ? socket : new SharedMemoryPipe(socket, memory, offered);
}

/** Creates a pipe over a socket that another process has connected, and joins the channel that the process offers, if any. */
export function joinSharedMemory(socket: Pipe, memory: AddonSource): Pipe {
  return new SharedMemoryPipe(socket, memory);
}

/** Returns whether a pipe sends through shared memory. */
export function usesSharedMemory(pipe: Pipe): boolean {
  return pipe instanceof SharedMemoryPipe && pipe.usesSharedMemory;
}

function offerChannel(random: Random, addon: RdmaAddon | undefined, bytes: number): OfferedChannel | undefined {
  if (addon === undefined) return undefined;
  const token = new Uint8Array(new BigUint64Array([random.id(), random.id()]).buffer, 0, TOKEN_BYTES);
  let channel: NativeChannel;
  try {
    channel = new addon.Channel(bytes, token);
  } catch {
    // If no memory or file descriptor is available, the socket carries everything.
    return undefined;
  }
  const [memory, waker, awaited] = channel.descriptors();
  return { channel, bytes, offer: writeOffer({ bytes, pid: process.pid, memory, waker, awaited, token }) };
}
