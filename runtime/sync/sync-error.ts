/** The error of everything that has to do with code on hosts. */

/**
 * What has failed:
 *
 * - `root-refused`: a root of a sync is not a folder, or contains much more than a program
 * - `entry-refused`: a file, link or name in a root cannot be carried to a host
 * - `over-limit`: the roots contain more files or bytes than the limits allow
 * - `changed`: a file has changed while it was read
 * - `list-failed`: git could not list the files of a root
 * - `manifest-refused`: a manifest is damaged, or names paths that are not in its tree
 * - `blob-missing`: the store lacks a blob of a tree
 * - `store-failed`: the store cannot be read or written, for instance because the disk is full
 * - `transfer-failed`: no source has sent what a host lacks
 * - `addon-refused`: a package contains an addon that is built for another platform than that of the host
 * - `packages-failed`: the lock file of the program cannot be used, or a host cannot install the packages in it
 * - `host-failed`: some hosts do not have the code; the message names them
 */
export type SyncErrorCode =
  | "root-refused"
  | "entry-refused"
  | "over-limit"
  | "changed"
  | "list-failed"
  | "manifest-refused"
  | "blob-missing"
  | "store-failed"
  | "transfer-failed"
  | "addon-refused"
  | "packages-failed"
  | "host-failed";

/** Thrown when code cannot be brought to a host. The message says what, where, why, and what to do. */
export class SyncError extends Error {
  override readonly name: string = "SyncError";
  /** What has failed. */
  readonly code: SyncErrorCode;
  /** The file, folder or path in the tree that the error is about, if it is about one. */
  readonly path?: string;

  /**
   * Makes an error.
   *
   * @param code what has failed
   * @param message the complete message
   * @param options the path that the error is about, and the cause
   */
  constructor(code: SyncErrorCode, message: string, options: ErrorOptions & { readonly path?: string } = {}) {
    super(message, options);
    this.code = code;
    if (options.path !== undefined) this.path = options.path;
  }
}
