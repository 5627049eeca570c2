/**
 * A message in memory of another process, of which only the pieces are fetched that somebody looks at. Readers look at once and
 * cannot wait, so they look again: what is missing is noted, fetched, and they start from the beginning, until everything
 * that they look at is there. Each byte is fetched once: what has been seen stays as it was, whatever the other side does to it.
 */
import { CapnpError } from "./error.js";
import { setAvailability } from "./presence.js";

/** Memory that is read from afar. An `RdmaBuffer` is such. */
export interface RemoteMemory {
  /** In bytes. */
  readonly size: number;
  /** Copies the bytes from `offset` on into `local`, all of it. When it rejects, nothing writes to `local` any more. */
  readInto(local: Uint8Array, options: RemoteReadOptions & { readonly offset: number }): Promise<void>;
}

/** Given to each `readInto`. */
export interface RemoteReadOptions {
  readonly signal?: AbortSignal;
  /** In ms. */
  readonly timeout?: number;
}

export interface RemoteMessageOptions {
  /** Bytes that are fetched at least: a multiple of 8. Default: 4096, less than which is not faster by any transport. */
  readonly piece?: number;
}

interface MissingBytes {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export class RemoteMessage {
  readonly #memory: RemoteMemory;
  readonly #piece: number;
  /** As large as all of it; the system backs with memory what is written to. */
  readonly #bytes: Uint8Array<ArrayBuffer>;
  /** By piece: 1 where it is there. */
  readonly #fetchedPieces: Uint8Array;
  #missing: MissingBytes | undefined;
  /** Of what was fetched at once: the piece behind it, and how many they were. */
  readonly #runs = new Map<number, number>();
  #lastRead: Promise<unknown> = Promise.resolve();
  #fetched = 0;
  #reads = 0;

  /**
   * Fetches nothing yet.
   * @param memory with the message at its beginning, or wherever `look` opens it
   * @throws CapnpError when this process has no address space for a copy of all of it; RangeError
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

  /** Bytes that have been fetched. */
  get fetched(): number {
    return this.#fetched;
  }

  /** How often `readInto` has been called. */
  get reads(): number {
    return this.#reads;
  }

  /**
   * What `look` finds in the message: `(bytes) => readRecordingCapnp(bytes).marks.at(-1)?.text`. It is called again each time something
   * that it looked at was missing and has been fetched, so it should change nothing, and must not wait. Views that it gives out
   * are of memory of this process, and stay as they are. Several reads of a message take turns.
   * @throws what `look` throws, CapnpError above all; what `readInto` rejects with
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
      // Also where `look` has caught the error itself.
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
   * Fetches what is not there of a range. Who goes on where earlier bytes ended gets twice as many as those were: he who looks at all of
   * a list looks again some twenty times, and not once for each piece.
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
