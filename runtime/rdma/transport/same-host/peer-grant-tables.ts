/**
 * The mapped grant tables of other processes of this machine. They show the state of each grant without involving its
 * owner. A process is identified by its id and start time, and a table by its first slot.
 */
import { closeSync, openSync, readlinkSync, readSync } from "node:fs";
import type { Clock } from "../../../link/clock.js";
import { ownMachineId } from "../../../machine-id.js";
import { MEMORY_FILE_LINK, type RdmaAddon } from "../../../native/rdma-addon.js";
import { RdmaError } from "../../errors.js";
import type { Access } from "../../grant/grant.js";
import {
  generationOf,
  SLOT_BYTES,
  SLOT_COUNT,
  SLOT_HEAD_BYTES,
  SlotWord,
  stateOf,
  TABLE_BYTES,
  TABLE_MAGIC,
  TableWord,
  WORDS_PER_SLOT,
} from "../../grant/grant-slot.js";
import type { MemoryHandle, ProcessIdentity } from "../../grant/memory-handle.js";
import { findRefusal, type Refusal, refusalError, type SlotClaim } from "../../grant/refusal.js";
import { startTimeOf } from "../../grant/start-time.js";

/** Maximum number of mapped tables. Beyond it, the table whose process was checked longest ago is dropped. */
const MAX_TABLES = 256;
/** Maximum number of slots that are kept for each table. */
const MAX_SLOTS_PER_TABLE = 1024;
/**
 * Time in ms for which a process counts as alive after a check. A process that ends within this time causes no harm,
 * because its grants do not change.
 */
const LIVENESS_CACHE_MS = 1;

/** The mapped table of another process. */
interface PeerTable {
  readonly words: BigUint64Array;
  readonly started: bigint;
  /** The slots that handles have named. */
  readonly slots: Map<number, PeerSlot>;
  /** Time of the last check that the process is alive, in ms. */
  lastSeenAlive: number;
  /**
   * The descriptor of a file of the process in /proc. It refers to this process even if another one gets its id, and
   * cannot be read after the process has ended.
   */
  readonly lifeFile: number;
}

/**
 * A slot of another process, as it was when a valid handle of its grant was first opened. All handles of the grant
 * share it.
 */
export interface PeerSlot {
  readonly generation: number;
  /** The mapped slot. */
  readonly slot: Uint8Array;
  /** A copy of the head of the slot. */
  readonly head: Uint8Array;
  /** The address of the slot in the owner's process. */
  readonly slotAddress: bigint;
  /** The word `SlotWord.memory` of the slot. */
  readonly memory: bigint;
  /** Offset of the grant in the owner's memory. */
  readonly offset: number;
  readonly length: number;
  readonly access: Access;
  /** Returns why the slot now refuses the handle, or undefined while the grant is valid. */
  refusal(): Refusal | undefined;
}

export class PeerGrantTables {
  readonly #addon: RdmaAddon | undefined;
  readonly #clock: Clock;
  /** Tables by process id and descriptor. A process with worker threads has several tables. */
  readonly #tables = new Map<number, PeerTable>();

  constructor(addon: RdmaAddon | undefined, clock: Clock) {
    this.#addon = addon;
    this.#clock = clock;
  }

  /**
   * Returns the slot of a handle, or undefined if the owner is not on this machine or this process may not access it.
   * @throws RdmaError if the handle is refused, or its owner is gone
   */
  slotOf(handle: MemoryHandle): PeerSlot | undefined {
    const { process: owner, slot } = handle;
    if (this.#addon === undefined || owner.table < 0 || owner.machine !== ownMachineId() || owner.machine === 0n) {
      return undefined;
    }
    const known = this.#tableOf(this.#addon, owner);
    if (known === undefined) return undefined;
    if (!(slot > 0 && slot < SLOT_COUNT)) throw refusalError("forged");
    const why = whySlotRefuses(known.words, slot * WORDS_PER_SLOT, handle);
    if (why !== undefined) throw refusalError(why);
    let found = known.slots.get(slot);
    if (found?.generation !== handle.generation) {
      found = readSlot(known.words, handle);
      if (known.slots.size >= MAX_SLOTS_PER_TABLE) known.slots.delete(known.slots.keys().next().value!);
      known.slots.set(slot, found);
    }
    // The sender of the handle may have forged these values; the slot has the true ones.
    if (found.length !== handle.length || found.access !== handle.access) throw refusalError("forged");
    return found;
  }

  /**
   * Opens the file of registered memory that an owner has open, or returns undefined if this process may not open it.
   * @throws RdmaError if the owner has no such file, or is gone
   */
  openFile({ pid, started }: ProcessIdentity, fd: number): number | undefined {
    const path = `/proc/${pid}/fd/${fd}`;
    try {
      // Opening another file could block for ever or have side effects.
      if (readlinkSync(path) !== MEMORY_FILE_LINK) throw refusalError("forged");
      return openSync(path, "r+");
    } catch (error) {
      if (error instanceof RdmaError) throw error;
      const now = startTimeOf(pid);
      if (now === undefined) throw peerEndedError(pid);
      if (now !== started) throw refusalError("stale");
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") throw refusalError("dropped");
      return undefined;
    }
  }

  #tableOf(addon: RdmaAddon, owner: ProcessIdentity): PeerTable | undefined {
    const key = owner.pid * 2 ** 31 + owner.table;
    const known = this.#tables.get(key);
    if (known !== undefined) {
      if (this.#isAlive(known)) {
        if (known.started === owner.started) return known;
        // A forged handle must not cause the table to be mapped again.
        throw refusalError("stale");
      }
      this.#tables.delete(key);
      closeSync(known.lifeFile);
    }
    const lifeFile = openLifeFile(owner.pid);
    try {
      const now = startTimeOf(owner.pid);
      if (lifeFile === undefined || now === undefined) throw peerEndedError(owner.pid);
      if (now !== owner.started) throw refusalError("stale");
      const words = this.#mapTable(addon, owner);
      if (words === undefined) {
        closeSync(lifeFile);
        return undefined;
      }
      return this.#remember(key, {
        words,
        started: owner.started,
        slots: new Map(),
        lastSeenAlive: this.#clock.now(),
        lifeFile,
      });
    } catch (error) {
      if (lifeFile !== undefined) closeSync(lifeFile);
      throw error;
    }
  }

  #mapTable(addon: RdmaAddon, owner: ProcessIdentity): BigUint64Array | undefined {
    const fd = this.openFile(owner, owner.table);
    if (fd === undefined) return undefined;
    try {
      const words = new BigUint64Array(mapMemoryFile(addon, fd));
      const isTable =
        Atomics.load(words, TableWord.magic) === TABLE_MAGIC &&
        words[TableWord.pid] === BigInt(owner.pid) &&
        words[TableWord.started] === owner.started &&
        words[TableWord.machine] === owner.machine;
      if (!isTable) throw refusalError("forged");
      return words;
    } finally {
      closeSync(fd);
    }
  }

  /**
   * Returns whether the process of a table is alive. The mapped table outlives its process and would still show valid
   * grants.
   */
  #isAlive(known: PeerTable): boolean {
    const now = this.#clock.now();
    if (now - known.lastSeenAlive < LIVENESS_CACHE_MS) return true;
    known.lastSeenAlive = now;
    // The table of a worker thread that has ended is cleared, and its descriptor may have been reused.
    return known.words[TableWord.magic] === TABLE_MAGIC && isProcessAlive(known.lifeFile);
  }

  #remember(key: number, known: PeerTable): PeerTable {
    if (this.#tables.size >= MAX_TABLES) {
      let [oldest, least] = this.#tables.entries().next().value!;
      for (const [other, one] of this.#tables)
        if (one.lastSeenAlive < least.lastSeenAlive) [oldest, least] = [other, one];
      this.#tables.delete(oldest);
      closeSync(least.lifeFile);
    }
    this.#tables.set(key, known);
    return known;
  }
}

const oneByte = new Uint8Array(1);

function openLifeFile(pid: number): number | undefined {
  try {
    return openSync(`/proc/${pid}/comm`, "r");
  } catch {
    return undefined;
  }
}

/** Returns whether the process of a life file is alive. This check takes a twentieth of the time of `startTimeOf`. */
function isProcessAlive(life: number): boolean {
  try {
    return readSync(life, oneByte, 0, 1, 0) === 1;
  } catch {
    return false;
  }
}

function mapMemoryFile(addon: RdmaAddon, fd: number): ArrayBuffer {
  try {
    return addon.mapMemory(fd, 0, TABLE_BYTES, 0);
  } catch {
    // The file is registered memory, but has not the size of a table.
    throw refusalError("forged");
  }
}

/** Reads the slot of a valid handle. @throws RdmaError if the grant has ended meanwhile */
function readSlot(words: BigUint64Array, handle: MemoryHandle): PeerSlot {
  const at = handle.slot * WORDS_PER_SLOT;
  const { generation, nonce } = handle;
  const slot = new Uint8Array(words.buffer, handle.slot * SLOT_BYTES, SLOT_BYTES);
  const own = new BigUint64Array(SLOT_HEAD_BYTES / 8);
  // Processors with a weak memory order, such as Arm's, could read these words after the check below otherwise.
  for (let i = 0; i < own.length; i++) own[i] = Atomics.load(words, at + i);
  const head = new Uint8Array(own.buffer);
  const refusal = () => whySlotRefuses(words, at, { generation, nonce });
  // The grant may have ended between the first check and the copy.
  const why = refusal();
  if (why !== undefined) throw refusalError(why);
  return {
    generation,
    slot,
    head,
    slotAddress: words[TableWord.address]! + BigInt(handle.slot * SLOT_BYTES),
    memory: own[SlotWord.memory]!,
    offset: Number(own[SlotWord.offset]),
    length: Number(own[SlotWord.length]),
    access: own[SlotWord.rights] === 3n ? "rw" : "r",
    refusal,
  };
}

function whySlotRefuses(words: BigUint64Array, at: number, claim: SlotClaim): Refusal | undefined {
  const word = Atomics.load(words, at + SlotWord.word);
  const nonce = [words[at + SlotWord.nonce]!, words[at + SlotWord.nonce + 1]!] as const;
  return findRefusal(claim, generationOf(word), stateOf(word), nonce);
}

export function peerEndedError(pid: number): RdmaError {
  return new RdmaError("ERR_RDMA_PEER_GONE", `cannot reach the memory of process ${pid}: it has ended`);
}
