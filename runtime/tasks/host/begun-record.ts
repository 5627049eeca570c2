/** The record of the tasks of a worker process that have begun, as the host has it. `worker/begun-file.ts` has its layout. */
import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sharedMemoryAddon } from "../kernel.js";
import { begunBytes, contextBytes, firstEntry, isFullAt, recordsAt } from "../worker/begun-file.js";

export class BegunRecord {
  readonly #file: number;
  #isClosed = false;

  private constructor(file: number, context: string) {
    this.#file = file;
    const start = Buffer.alloc(contextBytes);
    start.write(context);
    writeSync(file, start, 0, contextBytes, 0);
  }

  /**
   * Makes a record. It has no name in any directory, so that nothing is left of it when this process is killed. Returns undefined
   * on systems on which another process cannot open such a file.
   *
   * @param context the id of the context
   * @param name a name that no other file has at this moment
   */
  static make(context: string, name: string): BegunRecord | undefined {
    if (process.platform !== "linux") return undefined;
    try {
      const addon = sharedMemoryAddon();
      if (addon === undefined) return new BegunRecord(makeFile(name), context);
      const { fd, buffer } = addon.createMemory(begunBytes, false);
      addon.unmap(buffer);
      return new BegunRecord(fd, context);
    } catch {
      // Tasks run without a record, too.
      return undefined;
    }
  }

  /** The path by which processes of this user open the file. */
  get path(): string {
    return `/proc/${process.pid}/fd/${this.#file}`;
  }

  /**
   * Returns the number of the last order of a lease whose task has begun, and 0 if none has. Returns undefined if that was not
   * recorded.
   */
  lastBegun(lease: number): number | undefined {
    if (this.#isClosed) return undefined;
    const words = new Uint32Array(begunBytes / 4);
    readSync(this.#file, words, 0, begunBytes, 0);
    if (words[recordsAt] !== 1) return undefined;
    for (let at = firstEntry; at < words.length; at += 2) if (words[at] === lease) return words[at + 1]!;
    return words[isFullAt] === 1 ? undefined : 0;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#file);
  }
}

function makeFile(name: string): number {
  const path = join(tmpdir(), `${name}.begun`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  ftruncateSync(file, begunBytes);
  return file;
}
