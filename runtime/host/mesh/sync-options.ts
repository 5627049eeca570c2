/** The options and the result of `HostMesh.sync`. */

/** The options of {@link HostMesh.sync}. */
export interface SyncOptions {
  /**
   * The folders that contain the program: absolute, or relative to the working directory. Default: the folder of the nearest
   * `package.json` at or above the working directory.
   */
  readonly roots?: readonly string[];
  /** Glob patterns of what is left out. One without a slash matches names in all folders, another one paths in each root. */
  readonly exclude?: readonly string[];
  /** Files and folders that are brought although git ignores them, relative to each root. */
  readonly include?: readonly string[];
  /**
   * Whether the packages that the program depends on are brought, too: those of `dependencies` in each `package.json`, and what they
   * need. `"install"`: each host installs them with npm from the `package-lock.json` of each root, once for each lock. False: processes find
   * them where Node.js looks for them on the hosts. Default: true.
   */
  readonly packages?: boolean | "install";
  /** Roots that are meant although they are the root of the file system, or contain the home folder. */
  readonly largeRoots?: readonly string[];
  /** The limits of what is accepted, so that a folder with data is not brought by mistake. */
  readonly limits?: {
    /** The largest number of files and links. Default: 100,000. */
    readonly files?: number;
    /** The largest size in bytes. Default: 8 GiB. */
    readonly bytes?: number;
  };
  /** The size in bytes of all code on a host above which code that nothing uses is removed. Default: 32 GiB. */
  readonly quota?: number;
  /** Is called when the scan has ended, and each time that a host has the code. */
  readonly onProgress?: (progress: SyncProgress) => void;
}

/** The progress of a sync. */
export interface SyncProgress {
  /** The number of files and links. */
  readonly files: number;
  /** The size of all files in bytes. */
  readonly bytes: number;
  /** The number of hosts that have the code. */
  readonly done: number;
  /** The number of hosts that get the code. */
  readonly hosts: number;
}

/** The result of {@link HostMesh.sync}. */
export interface SyncReport {
  /** The id of the tree of files: the SHA-256 digest of its list of files, "" if the mesh is this machine. */
  readonly tree: string;
  /** The number of files and links. */
  readonly files: number;
  /** The size of all files in bytes. */
  readonly bytes: number;
  /** The hosts, in rank order. */
  readonly hosts: readonly SyncedHost[];
}

/** A host, and the bytes that it has fetched. */
export interface SyncedHost {
  /** The address by which this program reaches the host. */
  readonly address: string;
  /** The folder of the tree on the host. */
  readonly folder: string;
  /** The number of bytes that the host has fetched from the driver and from other hosts. */
  readonly bytes: number;
  /** The number of bytes of these that the driver has sent. */
  readonly driverBytes: number;
  /** The number of sources that have ended, stalled or sent wrong bytes, and were skipped. */
  readonly skipped: number;
}
