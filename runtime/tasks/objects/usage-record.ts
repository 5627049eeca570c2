/**
 * The memory and disk that the large values of one context use on one host: a record in memory that all its processes have mapped. Each
 * process writes its own slot and reads those of the others, so that no lock is needed. It is a file without a name: the system frees it.
 */
import { closeSync, openSync, readlinkSync } from "node:fs";
import {
  CONTEXT_BYTES,
  HEAD,
  MEMORY_FILE_LINK,
  OBJECTS,
  RECORD_BYTES,
  SLOT,
  SLOT_WORDS,
  sharedMemoryAddon,
  totalUsage,
  type Usage,
} from "../kernel.js";

/** The number of processes that a record has room for. */
export const MAX_SLOTS = RECORD_BYTES / 8 / SLOT_WORDS - 1;

/** The limits of memory and disk, in bytes. */
export interface UsageLimits {
  readonly memory: number;
  readonly disk: number;
}

export class UsageRecord {
  readonly limits: UsageLimits;
  /** The path by which other processes of the machine open the record. Undefined: only the process that has made it has one. */
  readonly path: string | undefined;
  readonly #words: BigInt64Array;
  readonly #file: number | undefined;
  readonly #free: number[] = [];

  private constructor(words: BigInt64Array, file: number | undefined) {
    this.#words = words;
    this.#file = file;
    this.path = file === undefined ? undefined : `/proc/${process.pid}/fd/${file}`;
    this.limits = { memory: Number(words[HEAD.memoryLimit]), disk: Number(words[HEAD.diskLimit]) };
  }

  /** Makes a record. Without the addon, no other process can open it. @param context the id of the context, of 16 characters */
  static make(context: string, limits: UsageLimits): UsageRecord {
    const memory = makeMemory();
    const words = memory?.words ?? new BigInt64Array(RECORD_BYTES / 8);
    Buffer.from(words.buffer).write(context, "latin1");
    words[HEAD.kind] = OBJECTS;
    words[HEAD.memoryLimit] = BigInt(limits.memory);
    words[HEAD.diskLimit] = BigInt(limits.disk);
    return new UsageRecord(words, memory?.file);
  }

  /** Opens the record of another process. Returns undefined if it is not there, or not that of the context. */
  static open(path: string, context: string): UsageRecord | undefined {
    const addon = sharedMemoryAddon();
    if (addon === undefined) return undefined;
    let file: number | undefined;
    try {
      // The path leads through the process of the host, which a container or another machine need not see.
      if (readlinkSync(path) !== MEMORY_FILE_LINK) return undefined;
      file = openSync(path, "r+");
      const words = new BigInt64Array(addon.mapMemory(file, 0, RECORD_BYTES, 0));
      const found = Buffer.from(words.buffer, 0, CONTEXT_BYTES).toString("latin1");
      return found === context && words[HEAD.kind] === OBJECTS ? new UsageRecord(words, undefined) : undefined;
    } catch {
      return undefined;
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  /** Returns a slot for a process, which only the maker of the record assigns. Undefined: all are taken. */
  take(): number | undefined {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const next = Number(Atomics.load(this.#words, HEAD.usedSlots));
    if (next >= MAX_SLOTS) return undefined;
    Atomics.store(this.#words, HEAD.usedSlots, BigInt(next + 1));
    return next;
  }

  /** Frees a slot whose process has ended. */
  free(slot: number): void {
    new UsageSlot(this.#words, slot).clear();
    this.#free.push(slot);
  }

  /** Returns the slot of this process, which has no values yet. */
  slot(index: number): UsageSlot {
    const slot = new UsageSlot(this.#words, index);
    slot.begin();
    return slot;
  }

  /** The use of all processes. */
  get total(): Usage {
    return totalUsage(this.#words);
  }

  /** The bytes in memory of all processes. */
  get memory(): number {
    return this.#sum(SLOT.memory);
  }

  /** The bytes on disk of all processes. */
  get disk(): number {
    return this.#sum(SLOT.disk);
  }

  #sum(word: number): number {
    const words = this.#words;
    const slots = Number(Atomics.load(words, HEAD.usedSlots));
    let sum = 0;
    for (let slot = 0; slot < slots; slot++) sum += Number(Atomics.load(words, (slot + 1) * SLOT_WORDS + word));
    return sum;
  }

  /** Clears the slots of processes that have ended without anybody having noticed yet. */
  clearEnded(): void {
    for (const slot of this.#slots()) {
      const pid = slot.read(SLOT.pid);
      if (pid !== 0 && !isAlive(pid)) slot.clear();
    }
  }

  *#slots(): Generator<UsageSlot> {
    const slots = Number(Atomics.load(this.#words, HEAD.usedSlots));
    for (let slot = 0; slot < slots; slot++) yield new UsageSlot(this.#words, slot);
  }

  /** Closes the file. Processes that have opened it keep it. Idempotent. */
  close(): void {
    if (this.#file !== undefined && openFiles.delete(this.#file)) closeSync(this.#file);
  }
}

/** The part of the record that one process writes. */
export class UsageSlot {
  readonly #words: BigInt64Array;
  readonly #first: number;

  constructor(words: BigInt64Array, index: number) {
    this.#words = words;
    this.#first = (index + 1) * SLOT_WORDS;
  }

  begin(): void {
    this.clear();
    this.#write(SLOT.pid, process.pid);
  }

  get memory(): number {
    return this.read(SLOT.memory);
  }

  get disk(): number {
    return this.read(SLOT.disk);
  }

  addMemory(bytes: number): void {
    this.#write(SLOT.memory, this.memory + bytes);
  }

  addDisk(bytes: number): void {
    this.#write(SLOT.disk, this.disk + bytes);
  }

  count(values: number, spilled: number): void {
    this.#write(SLOT.values, values);
    this.#write(SLOT.spilled, spilled);
  }

  read(word: number): number {
    return Number(Atomics.load(this.#words, this.#first + word));
  }

  #write(word: number, value: number): void {
    Atomics.store(this.#words, this.#first + word, BigInt(value));
  }

  clear(): void {
    for (let word = 0; word < SLOT_WORDS; word++) this.#write(word, 0);
  }
}

/** The descriptors of records that have not been closed. */
const openFiles = new Set<number>();

function makeMemory(): { readonly words: BigInt64Array; readonly file: number } | undefined {
  try {
    const made = sharedMemoryAddon()?.createMemory(RECORD_BYTES, false);
    if (made === undefined) return undefined;
    openFiles.add(made.fd);
    return { words: new BigInt64Array(made.buffer), file: made.fd };
  } catch {
    // There are no descriptors left: each process has a record of its own then.
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user lives.
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
