/**
 * Code on hosts. A *tree* is a set of files and links; its *manifest* lists them with the digests of their chunks. Each host has a
 * *code store*, which fetches the chunks that it lacks from other hosts or from the driver, and writes trees into folders.
 */
import type { Actor, Mesh, Stream, Uint32 } from "viceroy/schema";

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

/** The memory of one file, by which a scan knows that the file has not changed and need not be read again. */
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

/** The memory of a scan: one entry for each file. */
export interface ScanMemory {
  files: ScannedFile[];
}

/** Packages of npm that a host installs in a folder of a tree. */
export interface TreePackages {
  /** The path of the folder in the tree, "" for the tree itself. */
  at: string;
  /** The text of package.json. */
  manifest: string;
  /** The text of package-lock.json. */
  lock: string;
}

/** The order to bring a tree to a host. */
export interface SyncOrder {
  tree: TreeAddress;
  /** The packages that the host installs. Absent: none. */
  packages?: TreePackages[];
  /** The stores of all hosts that get the tree. Each host fetches from some of them, which its rank determines. */
  hosts: Mesh<CodeStore>;
  /** The rank of the host among them. */
  rank: Uint32;
  /** The store of the program, which has the whole tree. */
  driver: Mesh<CodeStore, never>;
}

/** The work of a host to get a tree. */
export interface SyncOutcome {
  /** The folder of the tree on the host. */
  folder: string;
  /** The number of blobs and bytes that the host has received. */
  blobs: Uint32;
  bytes: number;
  /** The number of bytes of these that the program has sent. The others are from other hosts. */
  driverBytes: number;
  /** The number of sources that have failed, stalled or sent wrong bytes. */
  skipped: Uint32;
}

/** The blobs that a host lacks. */
export interface BlobRequest {
  /** The SHA-256 digest of the manifest of the tree to which the blobs belong. */
  tree: Uint8Array;
  /** The digests of the blobs, 32 bytes each, one after the other. */
  digests: Uint8Array;
}

/** Some of the requested blobs. A batch without blobs says that the source waits for blobs itself. */
export interface BlobBatch {
  /** The places of the blobs in the request. */
  indexes: Uint32[];
  blobs: Uint8Array[];
}

/** The folders in which a code store keeps its files. */
export interface CodeStoreOptions {
  /** The absolute path, "" for the store that all programs of the user on the machine share. */
  folder: string;
  /** The size in bytes above which unused trees are removed. */
  quota: number;
}

/** The code store of one host, or of the program. */
export interface CodeStore extends Actor<[options: CodeStoreOptions]> {
  /**
   * Fetches what the host lacks of a tree, and writes the tree into a folder. The tree is in use until `release`.
   *
   * @concurrent
   */
  receive(order: SyncOrder): SyncOutcome;
  /**
   * Yields blobs, each as soon as this store has it.
   *
   * @concurrent
   */
  serve(request: BlobRequest): Stream<BlobBatch>;
  /**
   * Lets a name lead to a tree that this store has received, and answers the path of the name.
   *
   * @concurrent
   */
  activate(tree: Uint8Array, name: string): string;
  /**
   * Ends the use of a tree, which is removed when the store needs the room. An unknown tree has no effect.
   *
   * @concurrent
   */
  release(tree: Uint8Array): void;
}
