/**
 * A process that writes trees into a store, and makes them current, without an end. Tests kill it. Its arguments are the folder of the store, a
 * seed, and "once" to write each tree once.
 */
import path from "node:path";
import { CodeStoreFiles } from "../../../runtime/sync/store/code-store-files.js";
import { digestOf, joinDigests } from "../../../runtime/sync/tree/digest.js";
import { encodeManifest } from "../../../runtime/sync/tree/manifest.js";

const [folder = "", seed = "0", mode = ""] = process.argv.slice(2);
process.stdout.write("started\n");
const store = new CodeStoreFiles(folder, 3_000_000);

/** Version `version` of a tree of 30 files, of which each version changes some. */
export async function writeVersion(version: number): Promise<void> {
  const entries = [];
  for (let i = 10; i < 40; i++) {
    const bytes = Buffer.alloc(2_000, `file ${i} of version ${i % 3 === 0 ? version : 0}\n`);
    if (!store.blobs.has(digestOf(bytes))) store.blobs.put(digestOf(bytes), bytes);
    entries.push({
      path: `d${i % 10}/f${i}`,
      mode: 0o644,
      digests: joinDigests([digestOf(bytes)]),
      sizes: [bytes.length],
    });
  }
  entries.sort((left, right) => (left.path < right.path ? -1 : 1));
  const encoded = encodeManifest(entries);
  const use = store.use(encoded.id);
  store.addManifest(encoded);
  const manifest = store.manifest(encoded.id, encoded.address);
  if (manifest === undefined) throw new Error("the manifest is not there");
  try {
    const tree = await store.write(encoded.id, manifest);
    store.activate("job", tree);
    if (version % 5 === 0) store.collect(200_000);
  } catch (error) {
    // The collection of another process can remove a blob that is not yet a part of a tree.
    if ((error as { code?: string }).code !== "blob-missing") throw error;
  } finally {
    use.end();
  }
}

for (let version = Number(seed); mode !== "once" || version < Number(seed) + 20; version++)
  await writeVersion(version % 40);
process.stdout.write(`done ${path.basename(folder)}\n`);
