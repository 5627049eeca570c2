/**
 * Brings what a scan has found into the store of the same machine. Hosts fetch from the store, so that files may change during a
 * sync.
 */

import { Pace } from "../scan/pace.js";
import { readChunks } from "../scan/read-chunks.js";
import type { Scan } from "../scan/scan.js";
import { SyncError } from "../sync-error.js";
import { type Digest, digestOf } from "../tree/digest.js";
import { chunksIn, chunksOfManifest, MANIFEST_FORMAT } from "../tree/manifest.js";
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
  const manifest = { format: MANIFEST_FORMAT, entries: [...scan.entries] };
  const missing = store.missing(chunksOfManifest(manifest));
  store.makeRoom(scan.manifest.id, manifest, missing);
  for (const digest of store.addManifest(scan.manifest)) stored(digest);
  for (const entry of scan.entries) {
    const chunks = chunksIn(entry);
    if (!chunks.some(({ digest }) => missing.has(digest))) {
      for (const { digest } of chunks) stored(digest);
      continue;
    }
    const unread = new Set(chunks.map(({ digest }) => digest));
    const file = scan.fileOf(entry);
    try {
      await readChunks(file, pace, (chunk) => {
        const digest = digestOf(chunk);
        if (!unread.delete(digest)) return;
        if (missing.delete(digest)) store.blobs.putVerified(digest, chunk);
        stored(digest);
      });
    } catch (cause) {
      if (cause instanceof SyncError) throw cause;
      throw changed(file, cause);
    }
    if (unread.size > 0) throw changed(file, undefined);
  }
}

function changed(file: string, cause: unknown): SyncError {
  const message = `cannot sync ${file}: it has changed since it was scanned; sync again, or exclude it if a program writes it`;
  return new SyncError("changed", message, { path: file, ...(cause === undefined ? {} : { cause }) });
}
