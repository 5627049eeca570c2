/**
 * The memory in which a worker process records which of its tasks have begun. The host makes it before the process starts and
 * reads it when the process has ended, however it has ended. It is a file without a name: memory that the worker has mapped if the
 * addon is there, and a file that is written and read otherwise. Simulated processes share memory, and make no file.
 *
 * The layout is 16 bytes with the id of the context, a word that is 1 when the worker records, a word that is 1 when it had no
 * room for a lease, padding to 32 bytes, and an entry of two words for each lease: the number of the lease, and that of its last
 * order whose task has begun.
 */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { currentRuntime, sharedMemoryAddon } from "../kernel.js";

/** The size in bytes, which is enough for 8,188 leases at the same time. */
export const begunBytes = 2 ** 16;
export const begunWords = begunBytes / 4;
/** The number of bytes of the id of the context. */
export const contextBytes = 16;
/** Indices of words. */
export const [recordsAt, isFullAt, firstEntry] = [4, 5, 8];

/** The records of one worker process. */
export class BegunFile {
  /** The mapped memory; undefined if the file cannot be mapped. */
  readonly #memory: Uint32Array | undefined;
  readonly #file: number;
  /** The index of the first word of the entry of each lease, and the entries of leases that have ended. */
  readonly #entries = new Map<number, number>();
  readonly #free: number[] = [];
  #end: number = firstEntry;
  readonly #words = new Uint32Array(2);
  readonly #bytes = new Uint8Array(this.#words.buffer);

  private constructor(memory: Uint32Array | undefined, file: number) {
    this.#memory = memory;
    this.#file = file;
    this.#write(recordsAt, 1, 0);
  }

  /** Opens the file. Returns undefined if it cannot be opened, or is not the file of the context. Nothing is recorded then. */
  static open(path: string, context: string): BegunFile | undefined {
    const memory = currentRuntime().platform.simulatedMemory?.(path, begunWords);
    if (memory !== undefined) return new BegunFile(memory, -1);
    let file: number;
    try {
      file = openSync(path, "r+");
    } catch {
      // The path leads through the process of the host, which a container need not see.
      return undefined;
    }
    const start = Buffer.alloc(contextBytes);
    if (readSync(file, start, 0, contextBytes, 0) === contextBytes && start.toString() === context) {
      return new BegunFile(mapFile(file), file);
    }
    closeSync(file);
    return undefined;
  }

  /**
   * Records that the task of an order begins now.
   *
   * @throws Error if it cannot be written; the task must not begin then
   */
  record(lease: number, order: number): void {
    let at = this.#entries.get(lease);
    if (at === undefined) {
      at = this.#free.pop() ?? this.#end;
      if (at + 2 > begunWords) {
        this.#write(recordsAt, 1, 1);
        return;
      }
      if (at === this.#end) this.#end += 2;
      this.#entries.set(lease, at);
    }
    this.#write(at, lease, order);
  }

  /** The entry of a lease that has ended can be used for another one. */
  forget(lease: number): void {
    const at = this.#entries.get(lease);
    if (at === undefined) return;
    this.#entries.delete(lease);
    this.#free.push(at);
  }

  #write(at: number, first: number, second: number): void {
    const memory = this.#memory;
    if (memory !== undefined) {
      // The process can end between the two: an order of a lease that has ended says nothing.
      memory[at + 1] = second;
      memory[at] = first;
      return;
    }
    this.#words[0] = first;
    this.#words[1] = second;
    writeSync(this.#file, this.#bytes, 0, 8, at * 4);
  }
}

function mapFile(file: number): Uint32Array | undefined {
  try {
    const buffer = sharedMemoryAddon()?.mapMemory(file, 0, begunBytes, 0);
    return buffer === undefined ? undefined : new Uint32Array(buffer);
  } catch {
    // The host had no addon, so that this is a file.
    return undefined;
  }
}
