/** The limits of a scan. A sync of a folder with data by mistake then ends with a message instead of hours of copying. */
import { SyncError } from "../sync-error.js";

/** The limits of a scan. */
export interface ScanLimits {
  /** The largest number of files and links in all roots. Default: 100,000. */
  readonly files: number;
  /** The largest number of bytes in all roots. Default: 8 GiB. */
  readonly bytes: number;
}

export const defaultScanLimits: ScanLimits = { files: 100_000, bytes: 8 * 2 ** 30 };

/** Counts the paths of a listing, and refuses more than the limit. */
export class FileCount {
  readonly #limit: number;
  readonly #folders = new Map<string, number>();
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Counts a path.
   *
   * @throws {SyncError} if there are more paths than the limit; the message names the folder with most of them
   */
  add(root: string, path: string): void {
    const folder = path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
    this.#folders.set(folder, (this.#folders.get(folder) ?? 0) + 1);
    if (++this.#count <= this.#limit) return;
    const [largest = "", files = 0] = [...this.#folders].sort(([, a], [, b]) => b - a)[0] ?? [];
    const where = largest === "" ? "directly in the root" : `in ${largest}/`;
    throw new SyncError(
      "over-limit",
      `cannot scan ${root}: it contains more than ${this.#limit.toLocaleString("en")} files, ` +
        `${files.toLocaleString("en")} of them ${where}; exclude what the program does not need, or raise limits.files`,
      { path: largest },
    );
  }
}

/**
 * Checks the number of bytes of all files.
 *
 * @throws {SyncError} if there are more bytes than the limit; the message names the largest file
 */
export function checkBytes(root: string, files: Iterable<readonly [path: string, size: number]>, limit: number): void {
  let total = 0;
  let largest: readonly [path: string, size: number] = ["", -1];
  for (const file of files) {
    total += file[1];
    if (file[1] > largest[1]) largest = file;
  }
  if (total <= limit) return;
  throw new SyncError(
    "over-limit",
    `cannot scan ${root}: its files have ${showBytes(total)}, and the limit is ${showBytes(limit)}; the largest file is ` +
      `${largest[0]} with ${showBytes(largest[1])}; exclude what the program does not need, or raise limits.bytes`,
    { path: largest[0] },
  );
}

/** Returns a number of bytes with a unit. */
export function showBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let value = bytes;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[unit]}`;
}
