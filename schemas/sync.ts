/**
 * Code on hosts. A *tree* is a set of files and links; its *manifest* lists them with the digests of their chunks. Each host has a
 * *code store*, which fetches the chunks that it lacks from other hosts or from the driver, and writes trees into folders.
 */
import type { Uint32 } from "viceroy/schema";

/** A file or a symbolic link of a tree. */
export interface TreeEntry {
  /** The path in the tree, with "/" between names. */
  path: string;
  /** The permission bits, at most 0o777. Absent: the entry is a link. */
  mode?: Uint32;
  /** The target of a link, relative to the folder of the link. Absent: the entry is a file. */
  link?: string;
  /** The SHA-256 digests of the chunks of a file, 32 bytes each, one after the other. */
  digests: Uint8Array;
  /** The sizes of the chunks in bytes. */
  sizes: Uint32[];
}

/** All files and links of a tree, sorted by the UTF-8 bytes of their paths. */
export interface TreeManifest {
  /** The version of the format. Stores refuse versions that they do not know. */
  format: Uint32;
  entries: TreeEntry[];
}

/** The address of a tree: the digest of its manifest in the protobuf layout, and the chunks of which the manifest consists. */
export interface TreeAddress {
  /** The SHA-256 digest of the manifest, which is the id of the tree. */
  digest: Uint8Array;
  /** The SHA-256 digests of the chunks of the manifest, 32 bytes each, one after the other. */
  digests: Uint8Array;
  /** The sizes of the chunks in bytes. */
  sizes: Uint32[];
}

/** What a scan remembers of a file, so that it need not read an unchanged file again. */
export interface ScannedFile {
  /** The absolute path. */
  file: string;
  size: number;
  /** The times of the last change of the content and of the file, in milliseconds with fractions. */
  modified: number;
  changed: number;
  inode: number;
  mode: Uint32;
  /** The digests and sizes of the chunks, as in `TreeEntry`. */
  digests: Uint8Array;
  sizes: Uint32[];
  /** The specifiers that the file imports. Absent: they have not been read. */
  imports?: string[];
}

/** What a scan remembers of all files. */
export interface ScanMemory {
  files: ScannedFile[];
}
