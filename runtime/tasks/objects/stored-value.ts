/**
 * An encoded value in memory that the processes of a machine share. Nobody can change it. Each process that has it open keeps it, and
 * binary values in it are mapped instead of being copied.
 */
import { closeSync, readSync } from "node:fs";
import type { StoredMemory } from "../../../generated/tasks.js";
import { countSealed, mapSealed, openSealed, type SealedPlace, sealMemory } from "../kernel.js";
import type { ApartBytes } from "../values/index.js";

/** Values from this size on, in bytes, are stored: with smaller ones, a copy takes less time than opening memory. */
export const MIN_STORED_BYTES = 65_536;

/** Larger heads are mapped for each reader: a copy of them would double the memory. */
const MAX_KEPT_HEAD = 65_536;

/** The file of a value, which is closed when this process does not use the value any more. */
interface OpenFile {
  readonly file: number;
  /** The number of bytes that V8 counts. */
  counted: number;
}

const dropped = new FinalizationRegistry<OpenFile>(free);

function free({ file, counted }: OpenFile): void {
  closeSync(file);
  if (counted > 0) countSealed(-counted);
}

export class StoredValue {
  /** The number of bytes. */
  readonly size: number;
  /** The number of bytes before the binary values that are apart. */
  readonly #headSize: number;
  readonly #token: Uint8Array;
  #opened: OpenFile | undefined;
  #head: Uint8Array | undefined;
  /** The memory of the binary values that a reader has, by its place in the value. */
  readonly #mapped = new WeakMap<object, Map<number, WeakRef<ArrayBuffer>>>();

  private constructor(file: number, { head, size, token }: Pick<StoredMemory, "head" | "size" | "token">) {
    this.#opened = { file, counted: 0 };
    this.#headSize = head;
    this.size = size;
    this.#token = token;
    dropped.register(this, this.#opened, this);
  }

  /** Makes V8 count the memory, because this process owns the value: collecting it frees the memory. */
  count(): void {
    const opened = this.#opened;
    if (opened === undefined || opened.counted > 0) return;
    opened.counted = this.size;
    countSealed(this.size);
  }

  /**
   * Copies an encoded value into new memory.
   *
   * @param parts what `encodePlainParts` has returned
   * @returns undefined if the system has no descriptors or memory left, or this thread cannot share memory
   */
  static store(parts: readonly Uint8Array[]): StoredValue | undefined {
    const sealed = sealMemory(parts);
    if (sealed === undefined) return undefined;
    return StoredValue.sealed(sealed, { head: parts[0]!.length, size: sizeOf(parts) });
  }

  /** Returns the value in memory that this process has just sealed. */
  static sealed({ file, token }: SealedPlace, { head, size }: Pick<StoredMemory, "head" | "size">): StoredValue {
    return new StoredValue(file, { head, size, token });
  }

  /** Opens the value of another process. Returns undefined if it is not there any more, or on another machine. */
  static open(memory: StoredMemory): StoredValue | undefined {
    const file = memory.head <= memory.size ? openSealed(memory, memory.size) : undefined;
    return file === undefined ? undefined : new StoredValue(file, memory);
  }

  /** The memory in which other processes of this machine find it. Undefined: it was closed. */
  get memory(): StoredMemory | undefined {
    if (this.#opened === undefined) return undefined;
    return { pid: process.pid, file: this.#opened.file, token: this.#token, head: this.#headSize, size: this.size };
  }

  /** Returns all bytes, in memory that nothing else uses. @throws Error if it was closed */
  bytes(): Uint8Array {
    return new Uint8Array(this.#part(0, this.size));
  }

  /** Returns a copy of some of the bytes. @throws Error if it was closed */
  copy(from: number, bytes: number): Uint8Array {
    return new Uint8Array(copyPart(this.#open, from, bytes));
  }

  /** The number of bytes before the binary values that are apart. */
  get headSize(): number {
    return this.#headSize;
  }

  /** The bytes before the binary values that are apart. @throws Error if it was closed */
  get head(): Uint8Array {
    if (this.#headSize > MAX_KEPT_HEAD) return new Uint8Array(this.#part(0, this.#headSize));
    this.#head ??= new Uint8Array(copyPart(this.#open, 0, this.#headSize));
    return this.#head;
  }

  /**
   * Returns the memory of the binary values for a reader, which sees the same memory each time. What it writes there, no other reader
   * sees.
   */
  apartFor(reader: object): ApartBytes {
    const { size } = this;
    return { size, at: (from, bytes) => this.#mappedFor(reader, from, bytes) };
  }

  #mappedFor(reader: object, from: number, bytes: number): ArrayBuffer {
    let known = this.#mapped.get(reader);
    if (known === undefined) {
      known = new Map();
      this.#mapped.set(reader, known);
    }
    const before = known.get(from)?.deref();
    // A reader can give its memory to another thread.
    if (before !== undefined && before.byteLength === bytes) return before;
    const buffer = this.#part(from, bytes);
    known.set(from, new WeakRef(buffer));
    return buffer;
  }

  /** Returns a part in memory that nothing else uses. */
  #part(from: number, bytes: number): ArrayBuffer {
    const file = this.#open;
    try {
      return mapSealed(file, from, bytes);
    } catch {
      // The number of maps of a process is limited.
      return copyPart(file, from, bytes);
    }
  }

  get #open(): number {
    if (this.#opened === undefined) throw new Error("cannot read a value that was released");
    return this.#opened.file;
  }

  /** Frees the memory as soon as no other process and no reader has it. Idempotent. */
  close(): void {
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#opened = undefined;
    dropped.unregister(this);
    free(opened);
  }
}

/** Copies a part of a file. */
export function copyPart(file: number, from: number, bytes: number): ArrayBuffer {
  const copy = new Uint8Array(bytes);
  for (let at = 0; at < bytes; ) {
    const read = readSync(file, copy, at, bytes - at, from + at);
    if (read === 0) throw new Error("cannot read a stored value: its memory is shorter than it says");
    at += read;
  }
  return copy.buffer;
}

export function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}
