/**
 * Fetches blobs from a list of sources. The first one should have everything. If it is dead, stalls or sends wrong bytes, the next one is
 * asked for what is still lacking.
 */
import type { BlobBatch } from "../../../generated/sync.js";
import type { BlobSink } from "../store/blob-files.js";
import { SyncError } from "../sync-error.js";
import { type Digest, joinDigests } from "../tree/digest.js";
import type { TransferClock } from "./transfer-clock.js";

/**
 * The time in milliseconds for which a source may say nothing. A source that waits itself says so more often, but a machine that is
 * overloaded may not run it for seconds, and to skip it costs the next source half a copy.
 */
export const SILENCE_MS = 5_000;
/** The time for which the last source may say nothing: nobody else is left, and a slow link may be the reason. */
export const LAST_SILENCE_MS = 60_000;
/**
 * How long a source may send no blob for each source that is left, itself included, in milliseconds. Hosts near the driver lose
 * patience first, so that those behind them go on without a change.
 */
export const PATIENCE_MS = 5_000;

/** Another store. */
export interface Peer {
  /** Whether it is the store of the program, from which everything comes in the end. */
  readonly isDriver: boolean;
  /** How messages name it: `host 3`, `the driver`. */
  readonly name: string;
  /** Yields blobs of a tree. The digests stand one after the other. */
  serve(tree: Digest, digests: Uint8Array): AsyncIterable<BlobBatch>;
}

/** The counts of a fetch. */
export interface Received {
  blobs: number;
  bytes: number;
  /** The bytes that the program has sent. */
  driverBytes: number;
  /** Why sources were skipped. */
  readonly skipped: string[];
}

/** The parts that fetching blobs uses. */
export interface FetchingHost {
  readonly blobs: BlobSink;
  readonly clock: TransferClock;
  /** Is called for each blob that was verified and stored. */
  readonly arrived: (tree: Digest, blob: Digest) => void;
}

/**
 * Fetches blobs.
 *
 * @param tree the id of the tree to which they belong
 * @param wanted the digests and sizes of the blobs; those that arrive are removed
 * @param peers the sources, in the order in which they are tried
 * @throws {SyncError} if no source has sent some of them, or the store of this host cannot be written
 */
export async function fetchBlobs(
  host: FetchingHost,
  tree: Digest,
  wanted: Map<Digest, number>,
  peers: readonly Peer[],
): Promise<Received> {
  const received: Received = { blobs: 0, bytes: 0, driverBytes: 0, skipped: [] };
  for (const [i, peer] of peers.entries()) {
    if (wanted.size === 0) break;
    const left = peers.length - i;
    const limits = {
      silence: left === 1 ? LAST_SILENCE_MS : SILENCE_MS,
      patience: left === 1 ? LAST_SILENCE_MS : left * PATIENCE_MS,
    };
    try {
      await fetchFrom(host, tree, wanted, peer, limits, received);
      if (wanted.size > 0) throw new Error(`it ended with ${wanted.size} blobs left`);
    } catch (error) {
      if (error instanceof SyncError && error.code === "store-failed") throw error;
      received.skipped.push(`${peer.name}: ${(error as Error).message}`);
    }
  }
  if (wanted.size === 0) return received;
  throw new SyncError(
    "transfer-failed",
    `cannot fetch tree ${tree.slice(0, 12)}: no source has sent the last ${wanted.size} blobs; ${received.skipped.join("; ")}`,
  );
}

async function fetchFrom(
  host: FetchingHost,
  tree: Digest,
  wanted: Map<Digest, number>,
  peer: Peer,
  { silence, patience }: { readonly silence: number; readonly patience: number },
  received: Received,
): Promise<void> {
  const digests = [...wanted.keys()];
  const batches = peer.serve(tree, joinDigests(digests))[Symbol.asyncIterator]();
  let progressAt = host.clock.now();
  try {
    for (;;) {
      const result = await within(host.clock, silence, batches.next());
      if (result.done) return;
      const { indexes, blobs } = result.value;
      if (indexes.length > 0) progressAt = host.clock.now();
      else if (host.clock.now() - progressAt > patience) {
        throw new Error(`it has sent no blob for ${patience / 1000} s`);
      }
      for (const [i, index] of indexes.entries()) {
        const digest = digests[index];
        const bytes = blobs[i];
        const size = digest === undefined ? undefined : wanted.get(digest);
        if (digest === undefined || bytes === undefined || size === undefined) {
          throw new Error("it has sent a blob that was not requested, or twice");
        }
        if (bytes.length !== size) throw new Error(`it has sent ${bytes.length} bytes for a blob of ${size} bytes`);
        if (!host.blobs.has(digest)) host.blobs.put(digest, bytes);
        wanted.delete(digest);
        received.blobs++;
        received.bytes += bytes.length;
        if (peer.isDriver) received.driverBytes += bytes.length;
        host.arrived(tree, digest);
      }
    }
  } finally {
    // A source that stalls would not answer.
    Promise.resolve(batches.return?.()).catch(() => {});
  }
}

/** Returns the value of a promise, or throws if it takes too long. */
async function within<T>(clock: TransferClock, ms: number, promise: Promise<T>): Promise<T> {
  let cancel = (): void => {};
  const silence = new Promise<never>((_, reject) => {
    const timer = clock.after(ms, () => reject(new Error(`it has said nothing for ${ms / 1000} s`)));
    cancel = () => timer.cancel();
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    cancel();
    promise.catch(() => {});
  }
}
