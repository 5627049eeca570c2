/**
 * Brings what a scan has found into the store of the same machine. Hosts fetch from the store, so that files may change during a
 * sync.
 */

import { Pace } from "../scan/pace.js";
import { readChunks } from "../scan/read-chunks.js";
import type { Scan } from "../scan/scan.js";
import { SyncError } from "../sync-error.js";
import { type Digest, digestOf } from "../tree/digest.js";
import { chunksIn, MANIFEST_FORMAT } from "../tree/manifest.js";
import type { CodeStoreFiles } from "./code-store-files.js";

/**
 * Stores the manifest and then the chunks of a scan.
 *
 * @param stored is called for each chunk that the store has now
 * @throws {SyncError} if a file has changed since it was scanned, or the store cannot be written
 */
export async function ingest(
  scan: Scan,
  store: CodeStoreFiles,
  stored: (digest: Digest) => void = () => {},
): Promise<void> {
  const pace = new Pace();
  store.makeRoom(scan.manifest.id, { format: MANIFEST_FORMAT, entries: [...scan.entries] });
  for (const digest of store.addManifest(scan.manifest)) stored(digest);
  for (const entry of scan.entries) {
    const chunks = chunksIn(entry);
    if (chunks.every(({ digest }) => store.blobs.has(digest))) {
      for (const { digest } of chunks) stored(digest);
      continue;
    }
    const missing = new Set(chunks.map(({ digest }) => digest));
    const file = scan.fileOf(entry);
    try {
      await readChunks(file, pace, (chunk) => {
        const digest = digestOf(chunk);
        if (!missing.delete(digest)) return;
        if (!store.blobs.has(digest)) store.blobs.putVerified(digest, chunk);
        stored(digest);
      });
    } catch (cause) {
      if (cause instanceof SyncError) throw cause;
      throw changed(file, cause);
    }
    if (missing.size > 0) throw changed(file, undefined);
  }
}

function changed(file: string, cause: unknown): SyncError {
  const message = `cannot sync ${file}: it has changed since it was scanned; sync again, or exclude it if a program writes it`;
  return new SyncError("changed", message, { path: file, ...(cause === undefined ? {} : { cause }) });
}
