/**
 * The large values that one process owns, within the limits of its host: they are in memory, and on disk when there is too little of it.
 * Each process moves only its own values, so that none of them waits for a process that is stopped or busy.
 */
import { ObjectStoreFullError } from "../errors.js";
import { garbageCollector } from "../kernel.js";
import { explainFull } from "./explain-full.js";
import type { HostObjectLimits } from "./object-limits.js";
import { spilledSize } from "./spill-file.js";
import { type FileKeeper, StoredFile, sizeOf } from "./stored-file.js";
import type { UsageRecord, UsageSlot } from "./usage-record.js";

/** The longest time in ms for which a process waits for room. */
const WAIT_MS = 5000;
/** The time in ms within which a process that does not wait looks again: a result on its way to another process counts twice. */
const FAIL_MS = 50;
/** The time in ms between two looks, at first and later. */
const [FIRST_STEP_MS, LAST_STEP_MS] = [2, 50];

/** The time, as a thread that blocks sees it. */
export interface BlockingClock {
  /** Returns the time in milliseconds. */
  now(): number;
  /** Blocks this thread. */
  block(milliseconds: number): void;
}

/** The parts of a store. */
export interface ObjectStoreSetup {
  readonly limits: Pick<HostObjectLimits, "folder" | "whenFull">;
  readonly record: UsageRecord;
  readonly slot: UsageSlot;
  readonly clock: BlockingClock;
}

export class ObjectStore implements FileKeeper {
  readonly record: UsageRecord;
  readonly #slot: UsageSlot;
  readonly #limits: ObjectStoreSetup["limits"];
  readonly #clock: BlockingClock;
  /** The files of this process, the least recently used one first. Those on disk count as `spilled`. */
  readonly #files = new Set<StoredFile>();
  /** The results of tasks that their receivers have not opened yet. They stay where they are. */
  readonly #unopened = new Set<StoredFile>();
  #spilled = 0;
  /** The error of the last attempt to write to disk. */
  #diskError: Error | undefined;
  #isClosed = false;

  constructor({ limits, record, slot, clock }: ObjectStoreSetup) {
    this.#limits = limits;
    this.record = record;
    this.#slot = slot;
    this.#clock = clock;
  }

  /**
   * Stores a value, in memory if there is room, and on disk otherwise.
   *
   * @param parts what `encodePlainParts` has returned
   * @param isResult whether it is the result of a task, which another process opens soon
   * @returns undefined if the system has no descriptors or memory left
   * @throws ObjectStoreFullError if there is room neither in memory nor on disk
   */
  put(parts: readonly Uint8Array[], isResult: boolean): StoredFile | undefined {
    const size = sizeOf(parts);
    const file = this.#place(parts, size) ?? this.#wait(parts, size);
    if (file === "heap") return undefined;
    this.#files.add(file);
    if (isResult) this.#unopened.add(file);
    this.#count();
    return file;
  }

  add(file: StoredFile): void {
    if (this.#files.has(file) || this.#isClosed) return;
    this.#files.add(file);
    if (file.isOnDisk) {
      this.#slot.addDisk(spilledSize(file.size));
      this.#spilled++;
    } else {
      // The process that has made it counts it, too, until it learns that this one has opened it.
      const isOver = this.record.memory > this.record.limits.memory;
      this.#slot.addMemory(file.size);
      if (isOver) this.#spillOldest(this.record.memory - file.size - this.record.limits.memory);
    }
    this.#count();
  }

  used(file: StoredFile): void {
    // The receiver of a result knows where it is now.
    if (this.#unopened.has(file) || !this.#files.delete(file)) return;
    this.#files.add(file);
    if (!file.isOnDisk) return;
    // What is read for the first time takes no room from others, so that reading many values once moves none of them.
    const hasRoom = this.#announceMemory(file.size) || (file.diskReads++ > 0 && this.#takeMemory(file.size));
    if (!hasRoom) return;
    let isBack = false;
    try {
      isBack = file.bringBack();
    } finally {
      if (!isBack) this.#slot.addMemory(-file.size);
    }
    if (!isBack) return;
    this.#slot.addDisk(-spilledSize(file.size));
    this.#spilled--;
    this.#count();
  }

  closed(file: StoredFile): void {
    this.#unopened.delete(file);
    if (!this.#files.delete(file)) return;
    if (file.isOnDisk) {
      this.#slot.addDisk(-spilledSize(file.size));
      this.#spilled--;
    } else {
      this.#slot.addMemory(-file.size);
    }
    this.#count();
  }

  /** Values that are still there do not count any more. */
  close(): void {
    this.#isClosed = true;
    this.#files.clear();
    this.#unopened.clear();
    this.#slot.clear();
  }

  #count(): void {
    this.#slot.count(this.#files.size, this.#spilled);
  }

  /** Stores a value if there is room. `"heap"`: the system has no descriptors or memory for it. */
  #place(parts: readonly Uint8Array[], size: number): StoredFile | "heap" | undefined {
    if (!this.#takeMemory(size)) return this.#putOnDisk(parts, size);
    const file = StoredFile.inMemory(parts, this);
    if (file !== undefined) return file;
    this.#slot.addMemory(-size);
    return "heap";
  }

  /** Counts memory for a new value, and spills others if it takes that. Returns false if there is no room. */
  #takeMemory(size: number): boolean {
    const { memory: limit } = this.record.limits;
    if (size > limit) return false;
    if (this.#announceMemory(size)) return true;
    this.record.clearEnded();
    this.#forgetOpened();
    this.#slot.addMemory(size);
    if (this.#spillOldest(this.record.memory - limit)) return true;
    this.#slot.addMemory(-size);
    return false;
  }

  /**
   * Counts memory if there is room without spilling. Memory is counted before the sum is read: two processes that do so at the same time can
   * both find too much in use, but cannot both find room that is there once.
   */
  #announceMemory(size: number): boolean {
    this.#slot.addMemory(size);
    if (this.record.memory <= this.record.limits.memory) return true;
    this.#slot.addMemory(-size);
    return false;
  }

  /** Results that their receivers have opened count there. */
  #forgetOpened(): void {
    for (const file of this.#unopened) if (file.isOpenElsewhere) this.closed(file);
  }

  /** Moves values to disk until `bytes` of memory are free. Returns false, with nothing moved if possible, if they cannot be freed. */
  #spillOldest(bytes: number): boolean {
    let left = bytes;
    const chosen: StoredFile[] = [];
    for (const file of this.#files) {
      if (left <= 0) break;
      if (file.isOnDisk || this.#unopened.has(file) || file.isInUse) continue;
      chosen.push(file);
      left -= file.size;
    }
    return left <= 0 && chosen.every((file) => this.#spill(file));
  }

  #spill(file: StoredFile): boolean {
    const isDone = this.#onDisk(file.size, () => {
      file.spill(this.#limits.folder);
      return true;
    });
    if (isDone !== true) return false;
    this.#slot.addMemory(-file.size);
    this.#count();
    return true;
  }

  #putOnDisk(parts: readonly Uint8Array[], size: number): StoredFile | undefined {
    return this.#onDisk(size, () => StoredFile.onDisk(this.#limits.folder, parts, this));
  }

  /** Counts disk, and calls `write`. Returns undefined if there is no room, or writing has failed. */
  #onDisk<T>(size: number, write: () => T): T | undefined {
    const bytes = spilledSize(size);
    this.#slot.addDisk(bytes);
    if (this.record.disk <= this.record.limits.disk) {
      try {
        const written = write();
        this.#spilled++;
        this.#diskError = undefined;
        return written;
      } catch (error) {
        this.#diskError = error as Error;
      }
    }
    this.#slot.addDisk(-bytes);
    return undefined;
  }

  /** Looks for values that nothing refers to, and blocks this thread until other processes have freed enough. */
  #wait(parts: readonly Uint8Array[], size: number): StoredFile | "heap" {
    const { memory, disk } = this.record.limits;
    if (size <= memory || spilledSize(size) <= disk) {
      this.#closeDropped();
      const end = this.#clock.now() + (this.#limits.whenFull === "wait" ? WAIT_MS : FAIL_MS);
      let step = FIRST_STEP_MS;
      for (let before = -1; ; ) {
        const inUse = this.#inUse;
        if (inUse !== before) {
          const placed = this.#place(parts, size);
          if (placed !== undefined) return placed;
          before = inUse;
        }
        if (!this.#othersHaveValues || this.#clock.now() >= end) break;
        this.#clock.block(step);
        step = Math.min(step * 2, LAST_STEP_MS);
        this.record.clearEnded();
        this.#forgetOpened();
      }
    }
    throw new ObjectStoreFullError(
      explainFull({
        ...{ size, usage: this.record.total, limits: this.record.limits },
        ...{ folder: this.#limits.folder, diskError: this.#diskError },
        isAlone: !this.#othersHaveValues,
      }),
    );
  }

  /** The collector may not have run for long, and what it finds is closed only after the code that waits here. */
  #closeDropped(): void {
    garbageCollector()();
    for (const file of this.#files) if (file.isDropped) file.close();
  }

  get #inUse(): number {
    return this.record.memory + this.record.disk;
  }

  get #othersHaveValues(): boolean {
    return this.#inUse > this.#slot.memory + this.#slot.disk;
  }
}
