/**
 * Modules that tsx has transformed, kept in the cache of this user. A kept module is used only for exactly the source
 * from which it was made, so an edited file is transformed again.
 */
import { closeSync, openSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fnv1aText } from "../../../shared/hash/fnv1a.js";
import { cacheDirectory, readPrivateFile, removeFile, writePrivateFile } from "../private-files.js";

/** Maximum number of modules that are kept, of all programs of this user. */
const filesKept = 5000;
/** Time in ms after which a process that transforms nothing more lets others do so. */
const idleMs = 200;
/** Time in ms after which a process that has not finished a transformation counts as ended. */
const staleMs = 2000;
/** Time in ms for which a process waits for another one to transform a module. */
const patienceMs = 5000;
const pollMs = 5;

export class TransformedModules {
  readonly #identity: string;
  readonly #directory: string;
  readonly #turn: string;
  #release: NodeJS.Timeout | undefined;

  /** @param identity everything but the source that decides how a module is transformed */
  constructor(identity: string) {
    this.#identity = identity;
    // Not a folder inside of the other one, whose owner could exchange it.
    this.#directory = `${cacheDirectory()}-typescript`;
    this.#turn = join(this.#directory, `${fnv1aText(identity)}.turn`);
  }

  /**
   * Returns the transformed module. If there is none, one process transforms it, and others wait for the result. If a
   * transformation fails, each process fails with an error of its own.
   * @param path the file of the module
   */
  async get(path: string, source: Buffer, transform: () => Promise<Buffer | undefined>): Promise<Buffer | undefined> {
    const file = join(this.#directory, fnv1aText(`${this.#identity}\0${path}`));
    const kept = this.#read(file, source);
    if (kept !== undefined) return kept;
    await this.#waitForTurn(() => this.#read(file, source) !== undefined);
    const made = this.#read(file, source);
    if (made !== undefined) return made;
    const module = await transform();
    if (module !== undefined) this.#write(file, source, module);
    return module;
  }

  #read(file: string, source: Buffer): Buffer | undefined {
    const bytes = readPrivateFile(file);
    const start = 8;
    if (bytes === undefined || bytes.length < start) return undefined;
    const identity = Buffer.from(this.#identity);
    const from = start + bytes.readUInt32LE(0);
    const end = from + bytes.readUInt32LE(4);
    if (end > bytes.length || !bytes.subarray(start, from).equals(identity)) return undefined;
    return bytes.subarray(from, end).equals(source) ? bytes.subarray(end) : undefined;
  }

  #write(file: string, source: Buffer, module: Buffer): void {
    const identity = Buffer.from(this.#identity);
    const lengths = Buffer.alloc(8);
    lengths.writeUInt32LE(identity.length, 0);
    lengths.writeUInt32LE(source.length, 4);
    writePrivateFile(file, Buffer.concat([lengths, identity, source, module]), filesKept);
  }

  /** Waits until this process may transform, or another one has done so. */
  async #waitForTurn(isDone: () => boolean): Promise<void> {
    const end = Date.now() + patienceMs;
    while (!this.#takeTurn() && Date.now() < end) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      if (isDone()) return;
    }
  }

  /** Returns whether this process has its turn. It keeps the turn while it transforms one module after another. */
  #takeTurn(): boolean {
    if (this.#release !== undefined) {
      this.#release.refresh();
      touch(this.#turn);
      return true;
    }
    const status = statSync(this.#turn, { throwIfNoEntry: false });
    if (status !== undefined && Date.now() - status.mtimeMs > staleMs) removeFile(this.#turn);
    else if (status !== undefined) return false;
    try {
      closeSync(openSync(this.#turn, "wx", 0o600));
    } catch (error) {
      // Without the directory, which the first write makes, there is nothing to wait for.
      return (error as NodeJS.ErrnoException).code !== "EEXIST";
    }
    this.#release = setTimeout(() => {
      this.#release = undefined;
      removeFile(this.#turn);
    }, idleMs).unref();
    return true;
  }
}

function touch(file: string): void {
  try {
    const now = new Date();
    utimesSync(file, now, now);
  } catch {
    // Another process has taken the turn of this one, which was slow. Both transform.
  }
}
