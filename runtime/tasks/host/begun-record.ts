/** The record of the tasks of a worker process that have begun, as the host has it. `worker/begun-file.ts` has its layout. */
import { closeSync, ftruncateSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentRuntime, sharedMemoryAddon } from "../kernel.js";
import { begunBytes, begunWords, firstEntry, isFullAt, recordsAt } from "../worker/begun-file.js";

export class BegunRecord {
  /** The path by which processes of this user open the record. */
  readonly path: string;
  /** Copies the memory of the record. */
  readonly #read: () => Uint32Array;
  readonly #close: () => void;
  #isClosed = false;

  private constructor(path: string, read: () => Uint32Array, close: () => void) {
    this.path = path;
    this.#read = read;
    this.#close = close;
  }

  /**
   * Makes a record. It has no name in any directory, so that nothing is left of it when this process is killed. Returns undefined
   * on systems on which another process cannot open such a file.
   *
   * @param context the id of the context
   * @param name a name that no other file has at this moment
   */
  static make(context: string, name: string): BegunRecord | undefined {
    const memory = currentRuntime().platform.simulatedMemory?.(name, begunWords);
    if (memory !== undefined) {
      return new BegunRecord(
        name,
        () => memory,
        () => {},
      );
    }
    if (process.platform !== "linux") return undefined;
    try {
      const file = makeMemory() ?? makeFile(name);
      writeSync(file, context, 0);
      return new BegunRecord(
        `/proc/${process.pid}/fd/${file}`,
        () => readFile(file),
        () => closeSync(file),
      );
    } catch {
      // Tasks run without a record, too.
      return undefined;
    }
  }

  /**
   * Returns the number of the last order of a lease whose task has begun, and 0 if none has. Returns undefined if that was not
   * recorded.
   */
  lastBegun(lease: number): number | undefined {
    if (this.#isClosed) return undefined;
    const words = this.#read();
    if (words[recordsAt] !== 1) return undefined;
    for (let at = firstEntry; at < words.length; at += 2) if (words[at] === lease) return words[at + 1]!;
    return words[isFullAt] === 1 ? undefined : 0;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#close();
  }
}

function readFile(file: number): Uint32Array {
  const words = new Uint32Array(begunWords);
  readSync(file, words, 0, begunBytes, 0);
  return words;
}

/** Returns a file that is memory; undefined without the addon. */
function makeMemory(): number | undefined {
  const addon = sharedMemoryAddon();
  if (addon === undefined) return undefined;
  const { fd, buffer } = addon.createMemory(begunBytes, false);
  addon.unmap(buffer);
  return fd;
}

function makeFile(name: string): number {
  const path = join(tmpdir(), `${name}.begun`);
  const file = openSync(path, "wx+", 0o600);
  unlinkSync(path);
  ftruncateSync(file, begunBytes);
  return file;
}
