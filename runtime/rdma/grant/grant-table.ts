/**
 * The grants of this process, with one slot for each. With the addon, the slots are in memory that peers can map. The
 * slot decides whether a grant is valid, for all transports. Only this process writes slots, except for the cells in
 * which peers announce that they are writing.
 */
import { closeSync } from "node:fs";
import type { Clock, Random } from "../../link/clock.js";
import { ownMachineId } from "../../machine-id.js";
import type { RdmaAddon } from "../../native/rdma-addon.js";
import { RdmaError } from "../errors.js";
import type { Access, Grant, GrantKey } from "./grant.js";
import {
  GrantState,
  generationOf,
  memoryWord,
  SLOT_COUNT,
  SlotWord,
  stateOf,
  stateWord,
  TABLE_BYTES,
  TABLE_MAGIC,
  TableWord,
  WORDS_PER_SLOT,
  WRITER_CELLS,
} from "./grant-slot.js";
import type { LocalMemory } from "./local-memory.js";
import { findRefusal, type Refusal } from "./refusal.js";
import { ownStartTime, startTimeOf } from "./start-time.js";

/** Interval in ms at which a revocation looks for writers. */
const writerPollInterval = 1;

/** Finds the grants of this process for the requests of peers. */
export interface GrantLookup {
  /** Returns the grant that a peer names, or the reason for the refusal. The key is not trusted. */
  find(key: GrantKey): Grant | Refusal;
}

export class GrantTable implements GrantLookup {
  /** The descriptor of the file that peers map, or -1 without the addon. */
  readonly fd: number;
  /** The slots. Without the addon peers cannot map them, so the array starts small and grows. */
  #words: BigUint64Array;
  readonly #address: bigint;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #grants = new Map<number, Grant>();
  /**
   * Slots that can be used again. The slot that has been free for the longest time comes first, so that the handles of
   * an ended grant get an exact refusal for as long as possible.
   */
  readonly #freeSlots: number[] = [];
  #nextSlot = 1;

  constructor(addon: RdmaAddon | undefined, clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    if (addon === undefined) {
      this.fd = -1;
      this.#words = new BigUint64Array(64 * WORDS_PER_SLOT);
      this.#address = 0n;
      return;
    }
    const { fd, buffer } = addon.createMemory(TABLE_BYTES, true);
    this.fd = fd;
    this.#words = new BigUint64Array(buffer);
    this.#address = addon.addressOf(this.#words);
    this.#words[TableWord.pid] = BigInt(process.pid);
    this.#words[TableWord.started] = ownStartTime();
    this.#words[TableWord.machine] = ownMachineId();
    this.#words[TableWord.address] = this.#address;
    Atomics.store(this.#words, TableWord.magic, TABLE_MAGIC);
  }

  /** The number of grants that have not ended. */
  get count(): number {
    return this.#grants.size;
  }

  /** Adds a grant. @throws RdmaError if the table is full */
  add(memory: LocalMemory, offset: number, length: number, access: Access): Grant {
    const slot = this.#takeSlot();
    const at = slot * WORDS_PER_SLOT;
    const words = this.#words;
    const generation = generationOf(words[at + SlotWord.word]!) + 1;
    const nonce = [this.#random.id(), this.#random.id()] as const;
    const grant: Grant = { slot, generation, nonce, memory, offset, length, access };
    words[at + SlotWord.nonce] = nonce[0];
    words[at + SlotWord.nonce + 1] = nonce[1];
    words[at + SlotWord.rights] = access === "rw" ? 3n : 1n;
    words[at + SlotWord.address] = memory.address === undefined ? 0n : memory.address + BigInt(offset);
    words[at + SlotWord.length] = BigInt(length);
    words[at + SlotWord.memory] = memory.file === undefined ? 0n : memoryWord(memory.file.serial, memory.file.fd);
    words[at + SlotWord.offset] = BigInt(offset);
    this.#grants.set(slot, grant);
    // This word is written last, because it makes the grant valid.
    Atomics.store(words, at + SlotWord.word, stateWord(generation, GrantState.live));
    return grant;
  }

  find(key: GrantKey): Grant | Refusal {
    if (!(key.slot > 0 && key.slot < this.#nextSlot)) return "forged";
    const at = key.slot * WORDS_PER_SLOT;
    const word = this.#words[at + SlotWord.word]!;
    const nonce = [this.#words[at + SlotWord.nonce]!, this.#words[at + SlotWord.nonce + 1]!] as const;
    return findRefusal(key, generationOf(word), stateOf(word), nonce) ?? this.#grants.get(key.slot) ?? "dropped";
  }

  isLive({ slot, generation }: GrantKey): boolean {
    return this.#words[slot * WORDS_PER_SLOT + SlotWord.word] === stateWord(generation, GrantState.live);
  }

  /** Returns the address of the slot of a grant in this process. */
  addressOf({ slot }: GrantKey): bigint {
    return this.#address + BigInt(slot * WORDS_PER_SLOT * 8);
  }

  /** Marks a grant as ended, so that no peer begins to use it. Idempotent. */
  markEnded(grant: Grant, state: typeof GrantState.revoked | typeof GrantState.dropped): void {
    if (this.isLive(grant))
      Atomics.store(this.#words, grant.slot * WORDS_PER_SLOT + SlotWord.word, stateWord(grant.generation, state));
  }

  /**
   * Resolves when no other process writes through an ended grant: every writer has finished or died.
   * @param signal ends the wait
   * @throws RdmaError if a process is still writing when `signal` is aborted
   */
  async whenWritersDone(grant: Grant, signal: AbortSignal): Promise<void> {
    for (;;) {
      const writer = this.#findWriter(grant.slot);
      if (writer === undefined) return;
      if (signal.aborted) {
        throw new RdmaError(
          "ERR_RDMA_TIMEOUT",
          `cannot end a grant in time: process ${writer} is still writing, or was stopped while it wrote`,
          { cause: signal.reason },
        );
      }
      await new Promise<void>((resolve) => void this.#clock.after(writerPollInterval, resolve, true));
    }
  }

  /** Frees the slot of an ended grant. The caller makes sure that no process writes through the grant any more. */
  freeSlot(grant: Grant): void {
    if (this.#grants.get(grant.slot) !== grant) return;
    this.#grants.delete(grant.slot);
    this.#freeSlots.push(grant.slot);
  }

  /** Returns the grants whose slots are not free. */
  grants(): Grant[] {
    return [...this.#grants.values()];
  }

  close(): void {
    for (const grant of this.grants()) this.markEnded(grant, GrantState.dropped);
    if (this.fd >= 0) closeSync(this.fd);
  }

  /** Returns the process id of a living writer, and clears the cells of dead ones. */
  #findWriter(slot: number): number | undefined {
    const words = this.#words;
    for (let i = 0; i < WRITER_CELLS; i++) {
      const cell = slot * WORDS_PER_SLOT + SlotWord.writers + 2 * i;
      const pid = Atomics.load(words, cell);
      if (pid === 0n) continue;
      const started = Atomics.load(words, cell + 1);
      const now = startTimeOf(Number(pid));
      // 0 means that the writer has taken the cell and not written its start time yet.
      const lives = now !== undefined && (started === 0n || started === now);
      if (lives) return Number(pid);
      Atomics.compareExchange(words, cell, pid, 0n);
    }
    return undefined;
  }

  #takeSlot(): number {
    // Unused slots are taken first while there are many, so that freed slots keep the state of their last grant for
    // longer.
    if (this.#nextSlot < SLOT_COUNT && (this.#freeSlots.length === 0 || this.#nextSlot < SLOT_COUNT / 2)) {
      const slot = this.#nextSlot++;
      if (this.#nextSlot * WORDS_PER_SLOT > this.#words.length) this.#grow();
      return slot;
    }
    const slot = this.#freeSlots.shift();
    if (slot === undefined) {
      throw new RdmaError(
        "ERR_RDMA_LIMIT",
        `cannot grant memory: there are ${SLOT_COUNT - 1} grants; revoke or drop some`,
      );
    }
    return slot;
  }

  #grow(): void {
    const more = new BigUint64Array(this.#words.length * 2);
    more.set(this.#words);
    this.#words = more;
  }
}
