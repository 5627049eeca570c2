/**
 * A message in memory of another process, of which only the pieces are fetched that somebody looks at. Readers look at once and
 * cannot wait, so they look again: what is missing is noted, fetched, and they start from the beginning, until everything
 * that they look at is there. Each byte is fetched once: what has been seen stays as it was, whatever the other side does to it.
 */
import { CapnpError } from "./error.js";
import { setPresence } from "./presence.js";

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

interface Range {
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
  readonly #there: Uint8Array;
  #absent: Range | undefined;
  /** Of what was fetched at once: the piece behind it, and how many they were. */
  readonly #runs = new Map<number, number>();
  #turn: Promise<unknown> = Promise.resolve();
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
    this.#there = new Uint8Array(Math.ceil(memory.size / piece));
    setPresence(this.#bytes.buffer, { need: (at, length) => this.#need(at, length) });
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
    const result = this.#turn.then(() => this.#read(look, options));
    this.#turn = result.catch(() => {});
    return result;
  }

  async #read<T>(look: (bytes: Uint8Array) => T, options: RemoteReadOptions): Promise<T> {
    for (;;) {
      this.#absent = undefined;
      let found: T | undefined;
      try {
        found = look(this.#bytes);
      } catch (error) {
        if (this.#absent === undefined) throw error;
      }
      if (found instanceof Promise) {
        found.catch(() => {});
        throw new TypeError(
          "cannot read a remote message: expected a function that looks at it at once, got a promise",
        );
      }
      // Also where `look` has caught the error itself.
      if (this.#absent === undefined) return found as T;
      await this.#fetch(this.#absent, options);
    }
  }

  #need(at: number, length: number): void {
    for (let piece = Math.floor(at / this.#piece); piece * this.#piece < at + length; piece++) {
      if (this.#there[piece] === 1) continue;
      this.#absent = { from: at, to: at + length };
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
  async #fetch(wanted: Range, options: RemoteReadOptions): Promise<void> {
    const end = Math.ceil(wanted.to / this.#piece);
    for (let first = Math.floor(wanted.from / this.#piece); first < end; first++) {
      if (this.#there[first] === 1) continue;
      const before = this.#runs.get(first) ?? 0;
      const most = Math.min(Math.max(end, first + 2 * before), this.#there.length);
      let last = first + 1;
      while (last < most && this.#there[last] !== 1) last++;
      const offset = first * this.#piece;
      const local = this.#bytes.subarray(offset, last * this.#piece);
      await this.#memory.readInto(local, { ...options, offset });
      this.#there.fill(1, first, last);
      this.#runs.delete(first);
      this.#runs.set(last, last - first);
      this.#fetched += local.length;
      this.#reads++;
      first = last - 1;
    }
  }
}
