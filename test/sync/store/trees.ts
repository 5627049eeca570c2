/** Trees and stores for tests. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import path from "node:path";
import { type Scan, scan } from "../../../runtime/sync/scan/scan.js";
import { CodeStoreFiles } from "../../../runtime/sync/store/code-store-files.js";
import { ingest } from "../../../runtime/sync/store/ingest.js";
import { folderWith } from "../folder.js";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Stores a tree of files with all its blobs. */
export async function stored(store: CodeStoreFiles, files: Files): Promise<Scan> {
  const found = await scan({ roots: [folderWith(files)], include: ["node_modules"] });
  await ingest(found, store);
  return found;
}

/** Stores a tree of files, and writes it into its folder. */
export async function written(store: CodeStoreFiles, files: Files): Promise<{ id: string; folder: string }> {
  const { manifest } = await stored(store, files);
  const { id, address } = manifest;
  return { id, folder: await store.write(id, store.manifest(id, address)!) };
}

export function newStore(quota?: number): { store: CodeStoreFiles; folder: string } {
  const folder = path.join(folderWith({}), "store");
  return { store: new CodeStoreFiles(folder, quota), folder };
}

/** Returns the paths in a folder with the content of files, the targets of links, and the modes. */
export function contentOf(folder: string): Record<string, string> {
  const content: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = path.join(folder, name);
    const stats = lstatSync(file);
    if (stats.isSymbolicLink()) content[name] = `-> ${readlinkSync(file)}`;
    else if (stats.isFile()) content[name] = `${(stats.mode & 0o7777).toString(8)} ${readFileSync(file, "utf8")}`;
  }
  return content;
}
