/**
 * The memory and disk that the large values of one context use on one host: a record in memory that all its processes have mapped. Each
 * process writes its own slot and reads those of the others, so that no lock is needed. It is a file without a name: the system frees it.
 *
 * The layout is 16 bytes with the id of the context, three words with the limits of memory and disk in bytes and the number of slots that
 * have been in use, padding, a word that tells the record from others at 56 bytes, and a slot of 8 words for each process: its id, its bytes in memory and on disk, its values, and
 * those of them that are on disk. A word has 64 bits.
 */
import { closeSync, openSync, readlinkSync } from "node:fs";
import { MEMORY_FILE_LINK, sharedMemoryAddon } from "../kernel.js";

const RECORD_BYTES = 65_536;
const SLOT_WORDS = 8;
const CONTEXT_WORDS = 2;
const [MEMORY_LIMIT, DISK_LIMIT, USED_SLOTS, KIND] = [2, 3, 4, 7];
/** The word KIND: "objects". */
const OBJECTS = 0x73_7463_656a_626fn;
const [PID, MEMORY, DISK, VALUES, SPILLED] = [0, 1, 2, 3, 4];

/** The number of processes that a record has room for. */
export const MAX_SLOTS = RECORD_BYTES / 8 / SLOT_WORDS - 1;

/** The use of memory and disk, in bytes. */
export interface Usage {
  readonly memory: number;
  readonly disk: number;
  /** The number of values, and that of those on disk. */
  readonly values: number;
  readonly spilled: number;
  /** The number of processes that have values. */
  readonly processes: number;
}

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
    this.limits = { memory: Number(words[MEMORY_LIMIT]), disk: Number(words[DISK_LIMIT]) };
  }

  /** Makes a record. Without the addon, no other process can open it. @param context the id of the context, of 16 characters */
  static make(context: string, limits: UsageLimits): UsageRecord {
    const memory = makeMemory();
    const words = memory?.words ?? new BigInt64Array(RECORD_BYTES / 8);
    Buffer.from(words.buffer).write(context, "latin1");
    words[KIND] = OBJECTS;
    words[MEMORY_LIMIT] = BigInt(limits.memory);
    words[DISK_LIMIT] = BigInt(limits.disk);
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
      const found = Buffer.from(words.buffer, 0, CONTEXT_WORDS * 8).toString("latin1");
      return found === context && words[KIND] === OBJECTS ? new UsageRecord(words, undefined) : undefined;
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
    const next = Number(Atomics.load(this.#words, USED_SLOTS));
    if (next >= MAX_SLOTS) return undefined;
    Atomics.store(this.#words, USED_SLOTS, BigInt(next + 1));
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
    const sum = { memory: 0, disk: 0, values: 0, spilled: 0, processes: 0 };
    for (const slot of this.#slots()) {
      const values = slot.read(VALUES);
      if (values > 0) sum.processes++;
      sum.values += values;
      sum.memory += slot.read(MEMORY);
      sum.disk += slot.read(DISK);
      sum.spilled += slot.read(SPILLED);
    }
    return sum;
  }

  /** The bytes in memory of all processes. */
  get memory(): number {
    return this.#sum(MEMORY);
  }

  /** The bytes on disk of all processes. */
  get disk(): number {
    return this.#sum(DISK);
  }

  #sum(word: number): number {
    const words = this.#words;
    const slots = Number(Atomics.load(words, USED_SLOTS));
    let sum = 0;
    for (let slot = 0; slot < slots; slot++) sum += Number(Atomics.load(words, (slot + 1) * SLOT_WORDS + word));
    return sum;
  }

  /** Clears the slots of processes that have ended without anybody having noticed yet. */
  clearEnded(): void {
    for (const slot of this.#slots()) {
      const pid = slot.read(PID);
      if (pid !== 0 && !isAlive(pid)) slot.clear();
    }
  }

  *#slots(): Generator<UsageSlot> {
    const slots = Number(Atomics.load(this.#words, USED_SLOTS));
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
    this.#write(PID, process.pid);
  }

  get memory(): number {
    return this.read(MEMORY);
  }

  get disk(): number {
    return this.read(DISK);
  }

  addMemory(bytes: number): void {
    this.#write(MEMORY, this.memory + bytes);
  }

  addDisk(bytes: number): void {
    this.#write(DISK, this.disk + bytes);
  }

  count(values: number, spilled: number): void {
    this.#write(VALUES, values);
    this.#write(SPILLED, spilled);
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
