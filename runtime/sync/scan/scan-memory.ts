/**
 * What scans remember of files: an unchanged file is not read again. The properties of a file show every change but one: a
 * change in the same tick of the file system's clock, after the file was read, leaves them as they were. So a file is remembered
 * only if its last change was clearly before the scan, by the clock of its file system. That is never compared with the clock of
 * the process: on network file systems, they differ.
 */
import { lstatSync, rmSync, type Stats, writeFileSync } from "node:fs";
import path from "node:path";
import { ScanMemoryCodec, type ScannedFile } from "../../../generated/sync.js";
import { makePrivateDirectory, readPrivateFile, writePrivateFile } from "../../cache/private-files.js";
import { version } from "../../version.js";
import { type FileStamp, sameStamp, stampOf } from "./read-chunks.js";

/** The longest tick of the clock of a file system in milliseconds: that of FAT is 2 s. */
const TICK_MS = 2_000;

/** The chunks of a file. */
export type RememberedFile = Pick<ScannedFile, "digests" | "sizes">;

/** The content of a file as a scan has read it. */
interface ReadFile {
  readonly stamp: FileStamp;
  readonly mode: number;
  readonly device: number;
  readonly content: RememberedFile;
}

export class ScanMemory {
  readonly #folder: string | undefined;
  readonly #earlier = new Map<string, ScannedFile>();
  /** The files of this scan that are as an earlier scan has read them. */
  readonly #found = new Map<string, ScannedFile>();
  readonly #read = new Map<string, ReadFile>();
  /** The time of the file system at the start of the scan, by device. */
  readonly #times = new Map<number, number>();
  readonly #imports = new Map<string, string[]>();
  #changed = false;

  /**
   * Reads what earlier scans have remembered.
   *
   * @param folder a folder on the file system of the roots, which is made if needed; without one, nothing is remembered
   */
  constructor(folder: string | undefined) {
    this.#folder = folder;
    if (folder === undefined || !makePrivateDirectory(folder)) return;
    const time = timeOf(folder);
    if (time !== undefined) this.observe(time.device, time.now);
    const bytes = readPrivateFile(this.#file(folder));
    if (bytes === undefined) return;
    try {
      for (const file of ScanMemoryCodec.decode(bytes).files) this.#earlier.set(file.file, file);
    } catch {
      // A damaged file is the same as none.
    }
  }

  /**
   * Looks at all files that are remembered. Called while git lists the files, it costs no time of its own.
   *
   * @returns the properties of the files that exist, by their absolute paths
   */
  lookAtAll(): Map<string, Stats> {
    const found = new Map<string, Stats>();
    for (const file of this.#earlier.keys()) {
      const stats = lstatSync(file, { throwIfNoEntry: false });
      if (stats !== undefined) found.set(file, stats);
    }
    return found;
  }

  /**
   * Notes a time that the clock of a file system has reached, as the last change of a file. It must be called for all files before
   * the first one is read: a file that was read in the tick of its last change can change again unnoticed.
   */
  observe(device: number, time: number): void {
    this.#times.set(device, Math.max(this.#times.get(device) ?? 0, time));
  }

  /** Returns what is remembered of a file with these properties, which is then remembered further. */
  find(file: string, stamp: FileStamp, mode: number): RememberedFile | undefined {
    const found = this.#earlier.get(file);
    if (found === undefined || found.mode !== mode || !sameStamp(found, stamp)) return undefined;
    this.#found.set(file, found);
    return found;
  }

  /** Adds a file that this scan has read. */
  add(file: string, read: ReadFile): void {
    this.#read.set(file, read);
    this.#changed = true;
  }

  /** Returns what a file was found to import, if it has not changed since. */
  importsOf(file: string): readonly string[] | undefined {
    const known = this.#imports.get(file);
    if (known !== undefined) return known;
    const earlier = this.#earlier.get(file);
    if (earlier?.imports === undefined) return undefined;
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined || !sameStamp(earlier, stampOf(stats))) return undefined;
    this.#imports.set(file, earlier.imports);
    return earlier.imports;
  }

  /** Remembers what a file imports. */
  setImports(file: string, imports: readonly string[]): void {
    this.#imports.set(file, [...imports]);
    this.#changed = true;
  }

  /** Writes what is known of the files of this scan, if it differs from before. Never throws: without it, the next scan is slower. */
  save(): void {
    if (this.#folder === undefined) return;
    if (!this.#changed && this.#found.size === this.#earlier.size) return;
    const files: ScannedFile[] = [];
    const remember = (file: ScannedFile): void => {
      const imports = this.#imports.get(file.file);
      files.push(imports === undefined ? file : { ...file, imports });
    };
    for (const file of this.#found.values()) remember(file);
    for (const [file, { stamp, mode, device, content }] of this.#read) {
      if (stamp.changed + TICK_MS <= (this.#times.get(device) ?? 0)) remember({ file, ...stamp, mode, ...content });
    }
    writePrivateFile(this.#file(this.#folder), Buffer.from(ScanMemoryCodec.encode({ files })), 8);
  }

  #file(folder: string): string {
    return path.join(folder, `scan-${version}`);
  }
}

/** Returns the time of the file system of a folder, in milliseconds, or undefined if nothing can be written there. */
function timeOf(folder: string): { readonly device: number; readonly now: number } | undefined {
  const probe = path.join(folder, `.time-${process.pid}-${process.hrtime.bigint()}`);
  try {
    writeFileSync(probe, "", { flag: "wx", mode: 0o600 });
    const { dev, ctimeMs } = lstatSync(probe);
    return { device: dev, now: ctimeMs };
  } catch {
    return undefined;
  } finally {
    rmSync(probe, { force: true });
  }
}
