/** Serves blobs to a host: first those that this host has, then each of the others when it arrives. */
import type { BlobBatch } from "../../../generated/sync.js";
import type { BlobSource } from "../store/blob-files.js";
import { SyncError } from "../sync-error.js";
import { type Digest, digestsIn } from "../tree/digest.js";
import type { Arrivals } from "./arrivals.js";
import type { TransferClock } from "./transfer-clock.js";

/** The size of a batch in bytes from which on no blob is added. Small batches reach the last host of a tree sooner. */
const BATCH_BYTES = 128 * 1024;
/** The interval in milliseconds at which a source that has nothing to send says that it is alive. */
export const ALIVE_MS = 500;

/** The parts that serving blobs uses. */
export interface ServingHost {
  readonly blobs: BlobSource;
  readonly arrivals: Arrivals;
  readonly clock: TransferClock;
}

/**
 * Yields the requested blobs in batches. Blobs are read when the receiver has credit for the next batch, so memory is bounded.
 *
 * @param tree the id of the tree to which the blobs belong
 * @param digests the digests, one after the other
 * @param signal aborted when nobody reads any more
 * @throws {SyncError} if this host will not get the blobs
 */
export async function* serveBlobs(
  { blobs, arrivals, clock }: ServingHost,
  tree: Digest,
  digests: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<BlobBatch, void> {
  const wanted = digestsIn(digests);
  const ready: number[] = [];
  const missing = new Map<Digest, number>();
  let failure: string | undefined;
  let wake = (): void => {};
  const leave = arrivals.wait(tree, {
    arrived: (digest) => {
      const index = missing.get(digest);
      if (index === undefined) return;
      missing.delete(digest);
      ready.push(index);
      wake();
    },
    failed: (reason) => {
      failure = reason;
      wake();
    },
  });
  const abort = (): void => wake();
  signal.addEventListener("abort", abort);
  try {
    for (const [index, digest] of wanted.entries()) {
      if (blobs.has(digest)) ready.push(index);
      else missing.set(digest, index);
    }
    let next = 0;
    while (!signal.aborted && (next < ready.length || missing.size > 0)) {
      const batch: BlobBatch = { indexes: [], blobs: [] };
      for (let bytes = 0; bytes < BATCH_BYTES && next < ready.length; next++) {
        const index = ready[next] as number;
        const blob = blobs.get(wanted[index] as Digest);
        if (blob === undefined) {
          throw new SyncError(
            "blob-missing",
            `cannot serve blob ${wanted[index]?.slice(0, 12)}: it is not in the store any more`,
          );
        }
        batch.indexes.push(index);
        batch.blobs.push(blob);
        bytes += blob.length;
      }
      if (batch.indexes.length === 0) {
        if (failure !== undefined)
          throw new SyncError("transfer-failed", `cannot serve tree ${tree.slice(0, 12)}: ${failure}`);
        await new Promise<void>((resolve) => {
          const timer = clock.after(ALIVE_MS, resolve);
          wake = () => {
            timer.cancel();
            resolve();
          };
        });
        if (next < ready.length || signal.aborted || failure !== undefined) continue;
      }
      yield batch;
    }
  } finally {
    leave();
    signal.removeEventListener("abort", abort);
  }
}
