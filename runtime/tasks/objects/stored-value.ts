/**
 * An encoded value in memory that the processes of a machine share, or on its disk. Nobody can change it. Each process that has it open
 * keeps it, and binary values in memory are mapped instead of being copied.
 */
import type { StoredMemory } from "../../../generated/tasks.js";
import type { SealedPlace } from "../kernel.js";
import type { ApartBytes } from "../values/index.js";
import { type FileKeeper, StoredFile } from "./stored-file.js";

/** Values from this size on, in bytes, are stored: with smaller ones, a copy takes less time than opening memory. */
export const MIN_STORED_BYTES = 65_536;

/** Larger heads are mapped for each reader: a copy of them would double the memory. */
const MAX_KEPT_HEAD = 65_536;

/** Closes the files of values that this process does not use any more. */
const dropped = new FinalizationRegistry<StoredFile>((file) => file.close());

export class StoredValue {
  /** The number of bytes. */
  readonly size: number;
  readonly #file: StoredFile;
  #head: Uint8Array | undefined;
  /** The memory of the binary values that a reader has, by its place in the value. */
  readonly #mapped = new WeakMap<object, Map<number, WeakRef<ArrayBuffer>>>();

  /** @param file the file of the value, which is closed with the value, or when nothing refers to it */
  constructor(file: StoredFile) {
    this.size = file.size;
    this.#file = file;
    file.value = new WeakRef(this);
    dropped.register(this, file, this);
  }

  /** Makes the memory count for this process, because it owns the value: collecting the value frees the memory. */
  count(): void {
    this.#file.own();
  }

  /**
   * Returns the value in memory that this process has just sealed.
   *
   * @param keeper counts the value if this process becomes its owner
   */
  static sealed(
    place: SealedPlace,
    sizes: Pick<StoredMemory, "head" | "size">,
    keeper: FileKeeper | undefined,
  ): StoredValue {
    return new StoredValue(StoredFile.sealed(place, sizes, keeper));
  }

  /**
   * Opens the value of another process. Returns undefined if it is not there any more, or on another machine.
   *
   * @param keeper counts the value if this process becomes its owner
   */
  static open(memory: StoredMemory, keeper?: FileKeeper): StoredValue | undefined {
    const file = StoredFile.open(memory, keeper);
    return file === undefined ? undefined : new StoredValue(file);
  }

  /** The place at which other processes of this machine find it. Undefined: it was closed. */
  get memory(): StoredMemory | undefined {
    return this.#file.place;
  }

  /** Brings the value back from disk if there is room in memory, because it is about to be read. */
  use(): void {
    this.#file.use();
  }

  /** Returns all bytes, in memory that nothing else uses. @throws Error if it was closed; ObjectLostError if it is damaged */
  bytes(): Uint8Array {
    this.#file.use();
    return new Uint8Array(this.#file.part(0, this.size));
  }

  /** Returns a copy of some of the bytes. @throws Error if it was closed; ObjectLostError if it is damaged */
  copy(from: number, bytes: number): Uint8Array {
    return new Uint8Array(this.#file.copy(from, bytes));
  }

  /** The number of bytes before the binary values that are apart. */
  get headSize(): number {
    return this.#file.headSize;
  }

  /** The bytes before the binary values that are apart. @throws Error if it was closed; ObjectLostError if it is damaged */
  get head(): Uint8Array {
    const file = this.#file;
    file.use();
    if (file.headSize > MAX_KEPT_HEAD) return new Uint8Array(file.part(0, file.headSize));
    this.#head ??= new Uint8Array(file.copy(0, file.headSize));
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
    const buffer = this.#file.part(from, bytes);
    known.set(from, new WeakRef(buffer));
    return buffer;
  }

  /** Frees the memory as soon as no other process and no reader has it. Idempotent. */
  close(): void {
    dropped.unregister(this);
    this.#file.close();
  }
}
