/**
 * The grants of this process: one slot each, in memory that peers can map if there is the addon. What a slot says counts, for all
 * transports; only this process writes it, but for the cells in which writers say that they write.
 */
import { closeSync } from "node:fs";
import type { Clock, Random } from "../../link/clock.js";
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
import { ownMachineId, ownStartTime, startTimeOf } from "./process-identity.js";
import { findRefusal, type Refusal } from "./refusal.js";

/** How often writers are looked for that a revocation waits for, in ms. */
const writerPollInterval = 1;

/** What has been granted, as owners look it up for others. */
export interface GrantLookup {
  /** The grant that somebody names, who may be lying. */
  find(key: GrantKey): Grant | Refusal;
}

export class GrantTable implements GrantLookup {
  /** The descriptor of the file that peers map; -1: there is none. */
  readonly fd: number;
  /** Slots without the addon are of no use to anybody else, and grow as needed. */
  #words: BigUint64Array;
  readonly #address: bigint;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #grants = new Map<number, Grant>();
  /** Slots that can be used again, the one that has been free longest first: handles of theirs should be known for what they were. */
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

  /** @throws RdmaError when there are as many grants as there can be */
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
    // Last: from here on it counts.
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

  /** Where the slot of a grant is, in this process. */
  addressOf({ slot }: GrantKey): bigint {
    return this.#address + BigInt(slot * WORDS_PER_SLOT * 8);
  }

  /** Nobody begins to use the grant from now on. Idempotent. */
  markEnded(grant: Grant, state: typeof GrantState.revoked | typeof GrantState.dropped): void {
    if (this.isLive(grant))
      Atomics.store(this.#words, grant.slot * WORDS_PER_SLOT + SlotWord.word, stateWord(grant.generation, state));
  }

  /**
   * Resolves when no other process writes by this grant, which has been ended: those that had begun have finished, or have died.
   * @throws RdmaError, when told by `signal` to give up: somebody still does
   */
  async whenWritersDone(grant: Grant, signal: AbortSignal): Promise<void> {
    for (;;) {
      const writer = this.#findWriter(grant.slot);
      if (writer === undefined) return;
      if (signal.aborted) {
        throw new RdmaError(
          "ERR_RDMA_TIMEOUT",
          `cannot take back a grant in time: process ${writer} is still writing, or was stopped while it did`,
          { cause: signal.reason },
        );
      }
      await new Promise<void>((resolve) => void this.#clock.after(writerPollInterval, resolve, true));
    }
  }

  /** Its slot can be used again. Nobody may write any more. */
  freeSlot(grant: Grant): void {
    if (this.#grants.get(grant.slot) !== grant) return;
    this.#grants.delete(grant.slot);
    this.#freeSlots.push(grant.slot);
  }

  /** Grants that are not released. */
  grants(): Grant[] {
    return [...this.#grants.values()];
  }

  close(): void {
    for (const grant of this.grants()) this.markEnded(grant, GrantState.dropped);
    if (this.fd >= 0) closeSync(this.fd);
  }

  /** The process id of somebody who writes; those who have died do not count any more. */
  #findWriter(slot: number): number | undefined {
    const words = this.#words;
    for (let i = 0; i < WRITER_CELLS; i++) {
      const cell = slot * WORDS_PER_SLOT + SlotWord.writers + 2 * i;
      const pid = Atomics.load(words, cell);
      if (pid === 0n) continue;
      const started = Atomics.load(words, cell + 1);
      const now = startTimeOf(Number(pid));
      // 0: it has only just taken the cell, and has not said yet when it started.
      const lives = now !== undefined && (started === 0n || started === now);
      if (lives) return Number(pid);
      Atomics.compareExchange(words, cell, pid, 0n);
    }
    return undefined;
  }

  #takeSlot(): number {
    // New ones first, as long as there are many: what was freed is remembered for longer.
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
