/**
 * The blobs that a store has received last, in memory. Other hosts ask for a blob soon after it has arrived, and it need not be read and
 * verified again for each of them.
 */
import type { Digest } from "../tree/digest.js";

/** The size of all kept blobs in bytes. Hosts that fetch from this one lag behind it by less, unless their links are slower. */
const KEPT_BYTES = 8 * 2 ** 20;

export class RecentBlobs {
  /** The kept blobs, the oldest first. */
  readonly #blobs = new Map<Digest, Uint8Array>();
  #bytes = 0;

  get(digest: Digest): Uint8Array | undefined {
    return this.#blobs.get(digest);
  }

  /** Keeps a blob whose bytes nobody changes, and drops the oldest ones if there are too many. */
  add(digest: Digest, bytes: Uint8Array): void {
    if (this.#blobs.has(digest)) return;
    this.#blobs.set(digest, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, { length }] of this.#blobs) {
      if (this.#bytes <= KEPT_BYTES) break;
      this.#blobs.delete(oldest);
      this.#bytes -= length;
    }
  }

  clear(): void {
    this.#blobs.clear();
    this.#bytes = 0;
  }
}
