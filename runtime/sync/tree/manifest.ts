/**
 * Manifests of trees. Equal trees have equal manifests, byte for byte, on every machine and in every version of Viceroy, so that the
 * digest of a manifest names the tree. The protobuf layout has this property, because entries are sorted and fields have
 * numbers.
 */
import { type TreeAddress, type TreeEntry, type TreeManifest, TreeManifestCodec } from "../../../generated/sync.js";
import { SyncError } from "../sync-error.js";
import { chunksOf, MAX_CHUNK_BYTES } from "./chunks.js";
import { DIGEST_BYTES, type Digest, digestBytes, digestOf, digestsIn, joinDigests } from "./digest.js";
import { comparePaths, followLink, refusePath } from "./tree-path.js";

/** The version of the format that this version of Viceroy writes and reads. */
export const MANIFEST_FORMAT = 1;
/** The largest number of entries of a manifest. */
export const MAX_ENTRIES = 1_000_000;
/** The largest size of a manifest in bytes. */
export const MAX_MANIFEST_BYTES = 256 * 2 ** 20;

/** A chunk of content. */
export interface Chunk {
  readonly digest: Digest;
  readonly size: number;
}

/** A manifest as it is stored and sent. */
export interface EncodedManifest {
  /** The digest of the bytes, which is the id of the tree. */
  readonly id: Digest;
  readonly bytes: Uint8Array;
  readonly address: TreeAddress;
}

/** Returns the manifest of entries, which must be sorted by `comparePaths`. */
export function encodeManifest(entries: TreeEntry[]): EncodedManifest {
  const bytes = TreeManifestCodec.toProtobuf({ format: MANIFEST_FORMAT, entries });
  const digests: Digest[] = [];
  const sizes: number[] = [];
  for (const chunk of chunksOf(bytes)) {
    digests.push(digestOf(chunk));
    sizes.push(chunk.length);
  }
  const id = digestOf(bytes);
  return { id, bytes, address: { digest: digestBytes(id), digests: joinDigests(digests), sizes } };
}

/**
 * Decodes a manifest, which nobody has checked before.
 *
 * @param id the digest that the manifest must have
 * @throws {SyncError} if the bytes are another manifest, or if the manifest names anything that is not inside of its tree
 */
export function decodeManifest(bytes: Uint8Array, id: Digest): TreeManifest {
  if (digestOf(bytes) !== id) throw refuseManifest(id, `its bytes have the digest ${digestOf(bytes)}`);
  let manifest: TreeManifest;
  try {
    manifest = TreeManifestCodec.fromProtobuf(bytes);
  } catch (cause) {
    throw refuseManifest(id, (cause as Error).message, { cause });
  }
  checkManifest(manifest, id);
  return manifest;
}

/**
 * Checks a manifest that another host has made.
 *
 * @throws {SyncError} if it names a path outside of its tree, a path twice, a file as a folder, a link that leads out of
 * the tree, or sizes and digests that do not fit
 */
export function checkManifest({ format, entries }: TreeManifest, id: Digest): void {
  if (format !== MANIFEST_FORMAT) {
    throw refuseManifest(
      id,
      `its format is unknown, expected ${MANIFEST_FORMAT}, got ${format}; use one version of Viceroy`,
    );
  }
  if (entries.length > MAX_ENTRIES)
    throw refuseManifest(id, `it has more than ${MAX_ENTRIES} entries, got ${entries.length}`);
  const links = new Map<string, string>();
  const folders = new Set<string>();
  const paths = new Set<string>();
  let previous = "";
  for (const entry of entries) {
    const { path } = entry;
    const why = refusePath(path) ?? refuseContent(entry);
    if (why !== undefined) throw refuseEntry(id, path, why);
    if (paths.has(path)) throw refuseEntry(id, path, "the path is there twice");
    if (comparePaths(previous, path) > 0) throw refuseEntry(id, path, "the paths are not in order");
    previous = path;
    paths.add(path);
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const folder = path.slice(0, slash);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    if (entry.link !== undefined) links.set(path, entry.link);
  }
  for (const path of paths) {
    if (folders.has(path)) throw refuseEntry(id, path, "it is a file or link, and the folder of other entries");
  }
  for (const path of links.keys()) {
    const followed = followLink(path, (at) => links.get(at));
    if ("refused" in followed) throw refuseEntry(id, path, `the link is not safe: ${followed.refused}`);
  }
}

function refuseContent({ mode, link, digests, sizes }: TreeEntry): string | undefined {
  if (link !== undefined) {
    if (mode !== undefined || digests.length > 0 || sizes.length > 0) return "a link has content";
    if (Buffer.byteLength(link) > 4_095) return "the target of the link is longer than 4,095 bytes";
    return undefined;
  }
  if (mode === undefined) return "it is neither a file nor a link";
  if (mode > 0o777) return `its mode has more than permission bits, got 0o${mode.toString(8)}`;
  return refuseChunks(digests, sizes);
}

function refuseChunks(digests: Uint8Array, sizes: readonly number[]): string | undefined {
  if (digests.length !== DIGEST_BYTES * sizes.length) {
    return `it has ${sizes.length} sizes of chunks for ${digests.length} bytes of digests`;
  }
  const wrong = sizes.find((size) => size === 0 || size > MAX_CHUNK_BYTES);
  return wrong === undefined ? undefined : `a chunk has a size from 1 to ${MAX_CHUNK_BYTES}, got ${wrong}`;
}

/**
 * Checks the address of a tree, which another process has sent.
 *
 * @throws {SyncError} if it is not one
 */
export function checkAddress({ digest, digests, sizes }: TreeAddress): Digest {
  if (digest.length !== DIGEST_BYTES) {
    throw new SyncError(
      "manifest-refused",
      `cannot use a tree: its id must have ${DIGEST_BYTES} bytes, got ${digest.length}`,
    );
  }
  const [id = ""] = digestsIn(digest);
  const why = refuseChunks(digests, sizes);
  if (why !== undefined) throw refuseManifest(id, why);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > MAX_MANIFEST_BYTES)
    throw refuseManifest(id, `it has more than ${MAX_MANIFEST_BYTES} bytes, got ${bytes}`);
  return id;
}

/** Returns the chunks of a file or of a manifest, in order. */
export function chunksIn({ digests, sizes }: Pick<TreeEntry, "digests" | "sizes">): Chunk[] {
  return digestsIn(digests).map((digest, i) => ({ digest, size: sizes[i] as number }));
}

/** Returns the size of a file in bytes. */
export function sizeOf({ sizes }: Pick<TreeEntry, "sizes">): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Returns each chunk of a manifest's files once, in the order of the files. */
export function chunksOfManifest({ entries }: TreeManifest): Map<Digest, number> {
  const chunks = new Map<Digest, number>();
  for (const entry of entries) for (const { digest, size } of chunksIn(entry)) chunks.set(digest, size);
  return chunks;
}

function refuseManifest(id: Digest, why: string, options: ErrorOptions = {}): SyncError {
  return new SyncError(
    "manifest-refused",
    `cannot use tree ${id.slice(0, 12)}: its manifest is refused: ${why}`,
    options,
  );
}

function refuseEntry(id: Digest, path: string, why: string): SyncError {
  const shown = JSON.stringify(path.length > 100 ? `${path.slice(0, 100)}…` : path);
  return new SyncError(
    "manifest-refused",
    `cannot use tree ${id.slice(0, 12)}: its entry ${shown} is refused: ${why}`,
    { path },
  );
}
