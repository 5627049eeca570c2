/**
 * A byte pipe between processes of one host through shared memory, beside the Unix socket that they have met by. The socket carries
 * what is said before both have the memory, and tells of the end; who may speak was decided when it was made. What is said here
 * first is in offer.ts; rings, waking and waiting are the addon's (native/rdma/channel.h).
 */
import type { NativeChannel, RdmaAddon } from "../../native/rdma-addon.js";
import type { Random } from "../clock.js";
import { deliver, type Pipe, type PipeSink, SHORT, sizeOf } from "../pipe.js";
import {
  ANSWER_BYTES,
  kindOf,
  OFFER_BYTES,
  readAnswer,
  readOffer,
  TOKEN_BYTES,
  writeAnswer,
  writeOffer,
} from "./offer.js";

/**
 * Bytes of each ring: four batches of a link (outbox.ts), so that one is written while others are read. A ring that is read as it is
 * written uses the first few pages of them.
 */
export const RING_BYTES = 256 * 1024;

/** Bytes that are read before others have their turn of the event loop. */
const TURN_BYTES = 1 << 20;

interface Write {
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
const landing = new Uint8Array(16 * 1024);

const whenever = (): void => {};

/** Where shared memory comes from. Asked when it is needed. */
export type MemorySource = () => RdmaAddon | undefined;

interface Offered {
  readonly channel: NativeChannel;
  readonly bytes: number;
  readonly offer: Uint8Array;
}

class SharedPipe implements Pipe, PipeSink {
  readonly #socket: Pipe;
  readonly #memory: MemorySource;
  /** Whether this side offers a channel, or may take one. */
  readonly #offers: boolean;
  /** Offered, or joined. */
  #channel: NativeChannel | undefined;
  /** Of each of its rings. */
  #ringBytes = 0;
  /** How this side sends; undefined: that depends on what the other side says first. */
  #way: "socket" | "memory" | undefined;
  #sink: PipeSink | undefined;
  /** Where the first bytes of the other side land; undefined: they have come. */
  #first: Uint8Array | undefined;
  #fill = 0;
  /** Bytes that this side has sent by the socket, and that have come by it, behind what was said first. */
  #sent = 0;
  #received = 0;
  /** What comes is in memory from now on. */
  #inMemory = false;
  /** Written, and not yet taken. */
  readonly #waiting: Write[] = [];
  #closing = false;
  #ended = false;

  constructor(socket: Pipe, memory: MemorySource, offered?: Offered) {
    this.#socket = socket;
    this.#memory = memory;
    this.#offers = offered !== undefined;
    this.#first = new Uint8Array(this.#offers ? ANSWER_BYTES : OFFER_BYTES);
    if (offered === undefined) return;
    this.#channel = offered.channel;
    this.#ringBytes = offered.bytes;
    this.#way = "socket";
    socket.write([offered.offer], whenever);
  }

  /** Whether what this side sends goes by shared memory. */
  get usesMemory(): boolean {
    return this.#way === "memory";
  }

  open(sink: PipeSink): void {
    this.#sink = sink;
    this.#socket.open(this);
  }

  write(chunks: readonly Uint8Array[], done: () => void): void {
    if (this.#ended || this.#closing) queueMicrotask(done);
    else if (this.#way === "socket") {
      if (this.#channel !== undefined) for (const { length } of chunks) this.#sent += length;
      this.#socket.write(chunks, done);
    } else {
      this.#waiting.push({ chunks, done, chunk: 0, at: 0 });
      if (this.#way === "memory" && this.#waiting.length === 1) this.#send(this.#channel!);
    }
  }

  close(): void {
    if (this.#closing || this.#ended) return;
    // Who closes before the other side has said anything does not wait for an offer.
    if (this.#way === undefined) this.#useSocket();
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
    if (this.#first !== undefined) return this.#first.subarray(this.#fill);
    return this.#channel === undefined ? this.#sink!.buffer() : landing;
  }

  received(n: number): void {
    if (this.#first !== undefined) {
      this.#fill += n;
      this.#look(this.#first);
      return;
    }
    if (this.#channel === undefined) {
      if (!this.#ended) this.#sink!.received(n);
      return;
    }
    if (this.#inMemory) {
      this.#refuse("the peer has sent bytes by the socket after those in shared memory");
      return;
    }
    this.#received += n;
    deliver(landing.subarray(0, n), this.#sink!);
    this.#channel?.resume();
  }

  closed(error?: Error): void {
    const channel = this.#channel;
    // What was written before the end is still there; not more than that, lest a peer that has closed its socket goes on for ever.
    if (channel !== undefined && this.#first === undefined) this.#read(channel, this.#ringBytes);
    this.#end();
    this.#sink!.closed(error);
  }

  /** What the other side says first. */
  #look(first: Uint8Array): void {
    const kind = kindOf(first, this.#fill, first.length);
    if (kind === "more") return;
    this.#first = undefined;
    if (kind === "else") {
      this.#withdraw();
      this.#useSocket();
      deliver(first.subarray(0, this.#fill), this.#sink!);
    } else if (!this.#offers) this.#take(first);
    else if (readAnswer(first)) this.#begin(this.#channel!);
    else this.#withdraw();
  }

  /** The other side offers a channel. */
  #take(bytes: Uint8Array): void {
    this.#channel = this.#way === undefined ? this.#join(bytes) : undefined;
    if (this.#way === undefined) this.#socket.write([writeAnswer(this.#channel !== undefined)], whenever);
    if (this.#channel === undefined) this.#useSocket();
    else this.#begin(this.#channel);
  }

  /** A channel that cannot be had here is none: the socket carries everything. */
  #join(bytes: Uint8Array): NativeChannel | undefined {
    const offer = readOffer(bytes);
    const addon = offer === undefined ? undefined : this.#memory();
    if (offer === undefined || addon === undefined) return undefined;
    const { pid, memory, waker, awaited, token } = offer;
    this.#ringBytes = offer.bytes;
    try {
      return new addon.Channel(offer.bytes, token, pid, memory, waker, awaited);
    } catch {
      return undefined;
    }
  }

  #begin(channel: NativeChannel): void {
    this.#way = "memory";
    channel.begin(this.#sent, () => this.#ready(channel));
    this.#send(channel);
  }

  /** Nobody takes what this side offers. */
  #withdraw(): void {
    this.#channel?.close();
    this.#channel = undefined;
  }

  #useSocket(): void {
    // What is written meanwhile, since there is room again, comes behind what waits.
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#socket.write(next.chunks, next.done);
    }
    this.#way = "socket";
  }

  /** The addon says that there are bytes, or room. @returns false if it is not to say so again before more has come by the socket */
  #ready(channel: NativeChannel): boolean {
    if (this.#waiting.length > 0) this.#send(channel);
    return this.#channel !== channel || this.#read(channel, TURN_BYTES);
  }

  /** @returns false if what comes by the socket comes before what is in memory */
  #read(channel: NativeChannel, limit: number): boolean {
    if (!this.#inMemory) {
      const before = channel.before();
      if (before < 0) return true;
      if (this.#received < before) return false;
      if (this.#received > before) this.#refuse("the peer has sent bytes by the socket after those in shared memory");
    }
    this.#inMemory = true;
    const sink = this.#sink!;
    for (let left = limit; left > 0 && this.#channel === channel; ) {
      const n = channel.read(sink.buffer());
      if (n < 0) this.#refuse("the peer has written positions that cannot be into shared memory");
      if (n <= 0) break;
      left -= n;
      sink.received(n);
    }
    return true;
  }

  /** Writes what waits, as far as there is room. */
  #send(channel: NativeChannel): void {
    const waiting = this.#waiting;
    for (let write = waiting[0]; write !== undefined; write = waiting[0]) {
      const { chunks, done } = write;
      for (let bytes = chunks[write.chunk]; bytes !== undefined; bytes = chunks[write.chunk]) {
        const taken = channel.write(bytes, write.at);
        if (taken < 0) {
          this.#refuse("the peer has written positions that cannot be into shared memory");
          return;
        }
        write.at += taken;
        if (write.at < bytes.length) return;
        write.chunk++;
        write.at = 0;
      }
      waiting.shift();
      // What is long might go on like this as long as the other side reads.
      if (sizeOf(chunks) <= SHORT) done();
      else queueMicrotask(done);
    }
    if (this.#closing) this.#socket.close();
  }

  #refuse(why: string): void {
    this.destroy(new Error(`the connection was ended: ${why}`));
  }

  #end(): void {
    this.#ended = true;
    this.#withdraw();
    for (const { done } of this.#waiting.splice(0)) queueMicrotask(done);
  }
}

/** Over a socket to a process that was just started or dialled: offers it a channel. Without an addon it is the socket, as it is. */
export function offeringPipe(socket: Pipe, random: Random, memory: MemorySource, bytes = RING_BYTES): Pipe {
  const offered = offerChannel(random, memory(), bytes);
  return offered === undefined ? socket : new SharedPipe(socket, memory, offered);
}

/** Over a socket that another process has made: takes the channel that it offers, if it does. */
export function joiningPipe(socket: Pipe, memory: MemorySource): Pipe {
  return new SharedPipe(socket, memory);
}

/** Whether a pipe sends by shared memory. */
export function usesMemory(pipe: Pipe): boolean {
  return pipe instanceof SharedPipe && pipe.usesMemory;
}

function offerChannel(random: Random, addon: RdmaAddon | undefined, bytes: number): Offered | undefined {
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
