/**
 * A message in the memory of another process, of which only the needed pieces are fetched. Readers are synchronous and cannot
 * wait. If a byte is missing, the read ends, the piece is fetched, and the read starts again, until all bytes are available. Each
 * byte is fetched once, so that later changes of the remote memory have no effect.
 */

import { setAvailability } from "./availability.js";
import { CapnpError } from "./error.js";

/** Memory that is read over a transport, such as an `RdmaBuffer`. */
export interface RemoteMemory {
  /** The number of bytes. */
  readonly size: number;
  /**
   * Copies bytes into a local view, which is filled completely. If it rejects, nothing writes to the view any more.
   *
   * @param local the view that receives the bytes
   * @param options `offset` is the first byte to copy, from 0
   */
  readInto(local: Uint8Array, options: RemoteReadOptions & { readonly offset: number }): Promise<void>;
}

/** The options of `RemoteMessage.read`, which are passed to each `readInto`. */
export interface RemoteReadOptions {
  /** When aborted, the read rejects. */
  readonly signal?: AbortSignal;
  /** The time limit of each `readInto`, in milliseconds. */
  readonly timeout?: number;
}

/** The options of {@link RemoteMessage}. */
export interface RemoteMessageOptions {
  /**
   * The smallest number of bytes to fetch at a time, a multiple of 8. Default: 4,096, below which no transport is
   * faster.
   */
  readonly piece?: number;
}

interface MissingBytes {
  readonly from: number;
  /** The end of the range, exclusive. */
  readonly to: number;
}

/** A message in remote memory, of which only the parts that are read are fetched. */
export class RemoteMessage {
  readonly #memory: RemoteMemory;
  readonly #piece: number;
  /** The local copy, as large as the remote memory. The operating system only allocates pages that are written. */
  readonly #bytes: Uint8Array<ArrayBuffer>;
  /** One byte for each piece: 1 if the piece has been fetched. */
  readonly #fetchedPieces: Uint8Array;
  #missing: MissingBytes | undefined;
  /** The number of pieces of earlier fetches, by the index of the piece after them. */
  readonly #runs = new Map<number, number>();
  #lastRead: Promise<unknown> = Promise.resolve();
  #fetched = 0;
  #reads = 0;

  /**
   * Prepares a message for reading. Fetches nothing.
   *
   * @param memory starts with the message
   * @param options how many bytes to fetch at a time
   * @throws {CapnpError} when this process has no address space for a copy of the memory
   * @throws {RangeError} when `piece` is not a multiple of 8
   */
  constructor(memory: RemoteMemory, { piece = 4096 }: RemoteMessageOptions = {}) {
    if (!Number.isSafeInteger(piece) || piece <= 0 || piece % 8 !== 0) {
      throw new RangeError(`invalid piece: expected a multiple of 8 above 0, got ${piece}`);
    }
    this.#memory = memory;
    this.#piece = piece;
    try {
      this.#bytes = new Uint8Array(memory.size);
    } catch {
      throw new CapnpError("read", "the message", `there is no address space for ${memory.size} bytes here`);
    }
    this.#fetchedPieces = new Uint8Array(Math.ceil(memory.size / piece));
    setAvailability(this.#bytes.buffer, { requireBytes: (at, length) => this.#requireBytes(at, length) });
  }

  /** The number of bytes that have been fetched. */
  get fetched(): number {
    return this.#fetched;
  }

  /** The number of calls of `readInto`. */
  get reads(): number {
    return this.#reads;
  }

  /**
   * Reads a part of the message. The function `look` is called again whenever a part that it needs had to be fetched,
   * so that it must be synchronous and free of side effects. Views that it returns refer to memory of this process and
   * stay valid. Several reads of one message run one after another.
   *
   * @example
   * ```ts
   * import { type RemoteMessage, type ReadLimits, readMessage, type StructReader, type StructType } from "viceroy/capnp/v1";
   *
   * declare const Recording: StructType<StructReader & { readonly name: string }>;
   *
   * function nameOf(message: RemoteMessage, limits?: ReadLimits): Promise<string> {
   *   return message.read((bytes) => readMessage(Recording, bytes, limits).name, { timeout: 1_000 });
   * }
   * ```
   *
   * @param look reads from the bytes
   * @param options signal and time limit
   * @returns the result of `look`
   * @throws {CapnpError} as a rejection, when the message is invalid
   * @throws {TypeError} as a rejection, when `look` returns a promise
   */
  read<T>(look: (bytes: Uint8Array) => T, options: RemoteReadOptions = {}): Promise<T> {
    const result = this.#lastRead.then(() => this.#read(look, options));
    this.#lastRead = result.catch(() => {});
    return result;
  }

  async #read<T>(look: (bytes: Uint8Array) => T, options: RemoteReadOptions): Promise<T> {
    for (;;) {
      this.#missing = undefined;
      let found: T | undefined;
      try {
        found = look(this.#bytes);
      } catch (error) {
        if (this.#missing === undefined) throw error;
      }
      if (found instanceof Promise) {
        found.catch(() => {});
        throw new TypeError(
          "cannot read a remote message: expected a function that looks at it at once, got a promise",
        );
      }
      // Bytes can be missing even if `look` has caught the error.
      if (this.#missing === undefined) return found as T;
      await this.#fetch(this.#missing, options);
    }
  }

  #requireBytes(at: number, length: number): void {
    for (let piece = Math.floor(at / this.#piece); piece * this.#piece < at + length; piece++) {
      if (this.#fetchedPieces[piece] === 1) continue;
      this.#missing = { from: at, to: at + length };
      throw new CapnpError(
        "read",
        "the message",
        `bytes ${at} to ${at + length - 1} have not been fetched: look at them within RemoteMessage.read`,
      );
    }
  }

  /**
   * Fetches the missing pieces of a range. A fetch that continues an earlier one fetches twice as many pieces, so that reading a
   * whole list takes about twenty fetches instead of one for each piece.
   */
  async #fetch(wanted: MissingBytes, options: RemoteReadOptions): Promise<void> {
    const end = Math.ceil(wanted.to / this.#piece);
    for (let first = Math.floor(wanted.from / this.#piece); first < end; first++) {
      if (this.#fetchedPieces[first] === 1) continue;
      const before = this.#runs.get(first) ?? 0;
      const most = Math.min(Math.max(end, first + 2 * before), this.#fetchedPieces.length);
      let last = first + 1;
      while (last < most && this.#fetchedPieces[last] !== 1) last++;
      const offset = first * this.#piece;
      const local = this.#bytes.subarray(offset, last * this.#piece);
      await this.#memory.readInto(local, { ...options, offset });
      this.#fetchedPieces.fill(1, first, last);
      this.#runs.delete(first);
      this.#runs.set(last, last - first);
      this.#fetched += local.length;
      this.#reads++;
      first = last - 1;
    }
  }
}
