/** The file that has the bytes of a value: in memory or on disk, owned by this process or opened from another one. */
import { closeSync, readSync } from "node:fs";
import type { StoredMemory } from "../../../generated/tasks.js";
import { ObjectLostError } from "../errors.js";
import {
  countSealed,
  isUsedElsewhere,
  mapSealed,
  openSealed,
  type SealedPlace,
  sealMemory,
  UnsealedMemory,
} from "../kernel.js";
import {
  copySpilled,
  memoryOfBlock,
  openSpilled,
  readSpilled,
  type SpillFile,
  type WritePieces,
  writeSpilled,
} from "./spill-file.js";

/** Limits the memory of values. It knows the files that count for this process. */
export interface FileKeeper {
  /** This process has become the owner of a file. */
  add(file: StoredFile): void;
  /** A file is about to be read. */
  used(file: StoredFile): void;
  /** A file has been closed. */
  closed(file: StoredFile): void;
}

/** The number of views from which on those that have been collected are looked for. */
const MAX_VIEWS = 32;

export class StoredFile {
  /** The number of bytes. */
  readonly size: number;
  /** The number of bytes before the binary values that are apart. */
  readonly headSize: number;
  /** The keeper counts the file, or would count it if this process were its owner. */
  readonly #keeper: FileKeeper | undefined;
  #memory: Pick<SealedPlace, "file" | "token"> | undefined;
  #disk: SpillFile | undefined;
  /** The memory that is mapped from the file. */
  #views: WeakRef<ArrayBuffer>[] = [];
  /** Whether this process owns the value, so that V8 counts the memory. */
  #isOwned = false;
  /** The number of bytes that V8 counts. */
  #counted = 0;
  /** The value that closes the file. */
  value: WeakRef<object> | undefined;
  /** The number of times that the value was read from disk since it is there. */
  diskReads = 0;

  private constructor(keeper: FileKeeper | undefined, { head, size }: Pick<StoredMemory, "head" | "size">) {
    this.#keeper = keeper;
    this.headSize = head;
    this.size = size;
  }

  /** Copies a value into new memory. Returns undefined if the system has no descriptors or memory left, or this thread cannot share memory. */
  static inMemory(parts: readonly Uint8Array[], keeper: FileKeeper | undefined): StoredFile | undefined {
    const sealed = sealMemory(parts);
    if (sealed === undefined) return undefined;
    const made = new StoredFile(keeper, { head: parts[0]!.length, size: sizeOf(parts) });
    made.#memory = sealed;
    return made;
  }

  /** Returns the file of memory that this process has just sealed. */
  static sealed(
    place: SealedPlace,
    sizes: Pick<StoredMemory, "head" | "size">,
    keeper: FileKeeper | undefined,
  ): StoredFile {
    const made = new StoredFile(keeper, sizes);
    made.#memory = place;
    return made;
  }

  /** Writes a value to disk. @throws Error of the system */
  static onDisk(folder: string, parts: readonly Uint8Array[], keeper: FileKeeper): StoredFile {
    const made = new StoredFile(keeper, { head: parts[0]!.length, size: sizeOf(parts) });
    made.#disk = writeSpilled(folder, made.size, (write) => parts.forEach(write));
    return made;
  }

  /** Opens the file of another process. Returns undefined if it is not there any more, or on another machine. */
  static open(memory: StoredMemory, keeper: FileKeeper | undefined): StoredFile | undefined {
    if (memory.head > memory.size) return undefined;
    const made = new StoredFile(keeper, memory);
    if (memory.disk === true) {
      made.#disk = openSpilled(memory);
    } else {
      const file = openSealed(memory, memory.size);
      made.#memory = file === undefined ? undefined : { file, token: memory.token };
    }
    return made.isOpen ? made : undefined;
  }

  get isOpen(): boolean {
    return this.#memory !== undefined || this.#disk !== undefined;
  }

  get isOnDisk(): boolean {
    return this.#disk !== undefined;
  }

  /** The place at which other processes of this machine find it. Undefined: it was closed. */
  get place(): StoredMemory | undefined {
    const open = this.#memory ?? this.#disk;
    if (open === undefined) return undefined;
    const { file, token } = open;
    const place: StoredMemory = { pid: process.pid, file, token, head: this.headSize, size: this.size };
    if (this.isOnDisk) place.disk = true;
    return place;
  }

  /** This process becomes the owner. V8 counts the memory from now on: collecting the value frees it. */
  own(): void {
    if (this.#isOwned || !this.isOpen) return;
    this.#isOwned = true;
    this.#countMemory();
    this.#keeper?.add(this);
  }

  /**
   * Tells V8 how much memory the value has. With bytes on disk, V8 would believe that much more memory is in use, and let as much garbage
   * gather.
   */
  #countMemory(): void {
    const bytes = this.#isOwned && this.#memory !== undefined ? this.size : 0;
    if (bytes !== this.#counted) countSealed(bytes - this.#counted);
    this.#counted = bytes;
  }

  /** Tells the keeper that the value is about to be read. */
  use(): void {
    this.#keeper?.used(this);
  }

  /** Whether moving it to disk would free no memory: something in this process, or another process, has mapped or opened it. */
  get isInUse(): boolean {
    this.#forgetViews();
    return this.#views.length > 0 || this.isOpenElsewhere;
  }

  #forgetViews(): void {
    this.#views = this.#views.filter((view) => view.deref() !== undefined);
  }

  /** Whether other processes have it open. */
  get isOpenElsewhere(): boolean {
    const open = this.#memory ?? this.#disk;
    return open !== undefined && isUsedElsewhere(open.file);
  }

  /** Whether nothing in this process refers to the value any more. */
  get isDropped(): boolean {
    return this.value !== undefined && this.value.deref() === undefined;
  }

  /** Moves it from memory to disk. @throws Error of the system; it is in memory then */
  spill(folder: string): void {
    const { file } = this.#memory!;
    this.#disk = writeSpilled(folder, this.size, piecesOf(file, this.size));
    this.#memory = undefined;
    this.diskReads = 0;
    closeSync(file);
    this.#countMemory();
  }

  /** Moves it from disk to memory. Returns false if the system has no memory. @throws ObjectLostError if the file is damaged */
  bringBack(): boolean {
    const disk = this.#disk!;
    const memory = UnsealedMemory.create(this.size);
    if (memory === undefined) return false;
    let at = 0;
    try {
      copySpilled(disk, this.size, (block) => {
        memory.write(block, at);
        at += block.length;
      });
      this.#memory = memory.seal();
    } catch (error) {
      memory.close();
      if (error instanceof ObjectLostError) throw error;
      return false;
    }
    this.#disk = undefined;
    closeSync(disk.file);
    this.#countMemory();
    return true;
  }

  /** Returns a part in memory that nothing else uses. @throws Error if it was closed; ObjectLostError if the file is damaged */
  part(from: number, bytes: number): ArrayBuffer {
    if (this.#disk !== undefined) return readSpilled(this.#disk, this.size, from, bytes);
    const { file } = this.#open;
    let view: ArrayBuffer;
    try {
      view = mapSealed(file, from, bytes);
    } catch {
      // The number of maps of a process is limited.
      return readPart(file, from, bytes);
    }
    if (this.#views.length >= MAX_VIEWS) this.#forgetViews();
    this.#views.push(new WeakRef(view));
    return view;
  }

  /** Copies a part. @throws Error if it was closed; ObjectLostError if the file is damaged */
  copy(from: number, bytes: number): ArrayBuffer {
    if (this.#disk !== undefined) return readSpilled(this.#disk, this.size, from, bytes);
    return readPart(this.#open.file, from, bytes);
  }

  get #open(): Pick<SealedPlace, "file"> {
    if (this.#memory === undefined) throw new Error("cannot read a value that was released");
    return this.#memory;
  }

  /** Closes it. What is mapped stays. Idempotent. */
  close(): void {
    const open = this.#memory ?? this.#disk;
    if (open === undefined) return;
    this.#keeper?.closed(this);
    this.#memory = undefined;
    this.#disk = undefined;
    closeSync(open.file);
    this.#countMemory();
  }
}

/** Reads all bytes of a file in memory. */
function piecesOf(file: number, size: number): WritePieces {
  return (write) => {
    const scratch = memoryOfBlock();
    for (let at = 0; at < size; ) {
      const read = readSync(file, scratch, 0, Math.min(scratch.length, size - at), at);
      if (read === 0) throw new Error("cannot read a stored value: its memory is shorter than it says");
      write(scratch.subarray(0, read));
      at += read;
    }
  };
}

/** Copies a part of a file. */
export function readPart(file: number, from: number, bytes: number): ArrayBuffer {
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
