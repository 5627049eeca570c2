/**
 * A byte pipe between processes of one host through shared memory, beside the Unix socket that they have met by. The socket carries
 * what is said before both have the memory, and tells of the end; who may speak was decided when it was made. What is said here
 * first is in offer.ts; rings, waking and waiting are the addon's (native/rdma/channel/channel.h).
 */
import type { NativeChannel, RdmaAddon } from "../../../native/rdma-addon.js";
import type { Random } from "../../clock.js";
import { deliverBytes, type Pipe, type PipeSink, SHORT_WRITE_BYTES, totalBytes } from "../pipe.js";
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
 * Bytes of each ring: four batches of a link (outbox.ts), so that one is written while others are read. A ring that is read as it is
 * written uses the first few pages of them.
 */
export const RING_BYTES = 256 * 1024;

/** Bytes that are read before others have their turn of the event loop. */
const MAX_BYTES_PER_TURN = 1 << 20;

interface RingWrite {
  readonly chunks: readonly Uint8Array[];
  readonly done: () => void;
  /** What goes next: a chunk, and an offset in it. */
  chunk: number;
  at: number;
}

/**
 * Where bytes of the socket land once there is a channel, for all such pipes of a thread: a socket asks long before it reads, and
 * what the link has at hand for that may be in use by then.
 */
const landingBuffer = new Uint8Array(16 * 1024);

const ignoreDone = (): void => {};

/** Where shared memory comes from. Asked when it is needed. */
export type AddonSource = () => RdmaAddon | undefined;

interface OfferedChannel {
  readonly channel: NativeChannel;
  readonly bytes: number;
  readonly offer: Uint8Array;
}

class SharedMemoryPipe implements Pipe, PipeSink {
  readonly #socket: Pipe;
  readonly #addonSource: AddonSource;
  /** Whether this side offers a channel, or may take one. */
  readonly #isOfferer: boolean;
  /** Offered, or joined. */
  #channel: NativeChannel | undefined;
  /** Of each of its rings. */
  #ringBytes = 0;
  /** How this side sends; undefined: that depends on what the other side says first. */
  #sendPath: "socket" | "memory" | undefined;
  #sink: PipeSink | undefined;
  /** Where the first bytes of the other side land; undefined: they have come. */
  #firstBytes: Uint8Array | undefined;
  #firstFill = 0;
  /** Bytes that this side has sent by the socket, and that have come by it, behind what was said first. */
  #sent = 0;
  #received = 0;
  /** What comes is in memory from now on. */
  #readsMemory = false;
  /** Written, and not yet taken. */
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

  /** Whether what this side sends goes by shared memory. */
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

  close(): void {
    if (this.#closing || this.#ended) return;
    // Who closes before the other side has said anything does not wait for an offer.
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

  /** Not a byte behind what is said first is read into this side's own memory. */
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
    // What was written before the end is still there; not more than that, lest a peer that has closed its socket goes on for ever.
    if (channel !== undefined && this.#firstBytes === undefined) this.#readRing(channel, this.#ringBytes);
    this.#end();
    this.#sink!.closed(error);
  }

  /** What the other side says first. */
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

  /** The other side offers a channel. */
  #answerOffer(bytes: Uint8Array): void {
    this.#channel = this.#sendPath === undefined ? this.#joinChannel(bytes) : undefined;
    if (this.#sendPath === undefined) this.#socket.write([writeAnswer(this.#channel !== undefined)], ignoreDone);
    if (this.#channel === undefined) this.#switchToSocket();
    else this.#switchToMemory(this.#channel);
  }

  /** A channel that cannot be had here is none: the socket carries everything. */
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

  /** Nobody takes what this side offers. */
  #closeChannel(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  #switchToSocket(): void {
    // What is written meanwhile, since there is room again, comes behind what waits.
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#socket.write(next.chunks, next.done);
    }
    this.#sendPath = "socket";
  }

  /** The addon says that there are bytes, or room. @returns false if it is not to say so again before more has come by the socket */
  #channelReady(channel: NativeChannel): boolean {
    if (this.#waiting.length > 0) this.#writeRing(channel);
    return this.#channel !== channel || this.#readRing(channel, MAX_BYTES_PER_TURN);
  }

  /** @returns false if what comes by the socket comes before what is in memory */
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
      if (n < 0) this.#failProtocol("the peer has written positions that cannot be into shared memory");
      if (n <= 0) break;
      left -= n;
      sink.received(n);
    }
    return true;
  }

  /** Writes what waits, as far as there is room. */
  #writeRing(channel: NativeChannel): void {
    const waiting = this.#waiting;
    for (let write = waiting[0]; write !== undefined; write = waiting[0]) {
      const { chunks, done } = write;
      for (let bytes = chunks[write.chunk]; bytes !== undefined; bytes = chunks[write.chunk]) {
        const taken = channel.write(bytes, write.at);
        if (taken < 0) {
          this.#failProtocol("the peer has written positions that cannot be into shared memory");
          return;
        }
        write.at += taken;
        if (write.at < bytes.length) return;
        write.chunk++;
        write.at = 0;
      }
      waiting.shift();
      // What is long might go on like this as long as the other side reads.
      if (totalBytes(chunks) <= SHORT_WRITE_BYTES) done();
      else queueMicrotask(done);
    }
    if (this.#closing) this.#socket.close();
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

/** Over a socket to a process that was just started or dialled: offers it a channel. Without an addon it is the socket, as it is. */
export function offerSharedMemory(socket: Pipe, random: Random, memory: AddonSource, bytes = RING_BYTES): Pipe {
  const offered = offerChannel(random, memory(), bytes);
  return offered === undefined ? socket : new SharedMemoryPipe(socket, memory, offered);
}

/** Over a socket that another process has made: takes the channel that it offers, if it does. */
export function joinSharedMemory(socket: Pipe, memory: AddonSource): Pipe {
  return new SharedMemoryPipe(socket, memory);
}

/** Whether a pipe sends by shared memory. */
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
    // No memory or descriptors are left: the socket carries everything.
    return undefined;
  }
  const [memory, waker, awaited] = channel.descriptors();
  return { channel, bytes, offer: writeOffer({ bytes, pid: process.pid, memory, waker, awaited, token }) };
}
