/**
 * Brings what a scan has found into the store of the same machine. Hosts fetch from the store, so that files may change during a
 * sync.
 */

import { Pace } from "../scan/pace.js";
import { readChunks } from "../scan/read-chunks.js";
import type { Scan } from "../scan/scan.js";
import { SyncError } from "../sync-error.js";
import { digestOf } from "../tree/digest.js";
import { chunksIn, MANIFEST_FORMAT } from "../tree/manifest.js";
import type { CodeStoreFiles } from "./code-store-files.js";

/**
 * Stores the chunks and the manifest of a scan.
 *
 * @throws {SyncError} if a file has changed since it was scanned, or the store cannot be written
 */
export async function ingest(scan: Scan, store: CodeStoreFiles): Promise<void> {
  const pace = new Pace();
  store.makeRoom(scan.manifest.id, { format: MANIFEST_FORMAT, entries: [...scan.entries] });
  for (const entry of scan.entries) {
    const chunks = chunksIn(entry);
    if (chunks.every(({ digest }) => store.blobs.has(digest))) continue;
    const missing = new Set(chunks.map(({ digest }) => digest));
    const file = scan.fileOf(entry);
    try {
      await readChunks(file, pace, (chunk) => {
        const digest = digestOf(chunk);
        if (missing.delete(digest) && !store.blobs.has(digest)) store.blobs.put(digest, chunk);
      });
    } catch (cause) {
      if (cause instanceof SyncError) throw cause;
      throw changed(file, cause);
    }
    if (missing.size > 0) throw changed(file, undefined);
  }
  store.addManifest(scan.manifest);
}

function changed(file: string, cause: unknown): SyncError {
  const message = `cannot sync ${file}: it has changed since it was scanned; sync again, or exclude it if a program writes it`;
  return new SyncError("changed", message, { path: file, ...(cause === undefined ? {} : { cause }) });
}
