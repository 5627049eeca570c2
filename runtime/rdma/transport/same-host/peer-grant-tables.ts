/**
 * Tables of grants of other processes of this machine, mapped: what their owners say of their memory is seen at once, without them.
 * A process is found by its id, and known by when it started; its table by what stands in it.
 */
import { closeSync, openSync, readlinkSync, readSync } from "node:fs";
import type { Clock } from "../../../link/clock.js";
import type { RdmaAddon } from "../../../native/rdma-addon.js";
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
import { ownMachineId, startTimeOf } from "../../grant/process-identity.js";
import { findRefusal, type Refusal, refusalError, type SlotClaim } from "../../grant/refusal.js";

/** What the link of the descriptor of memory of ours leads to. */
const MEMORY_FILE_LINK = "/memfd:viceroy (deleted)";

/** Processes that are kept mapped; the one that was used longest ago goes. */
const MAX_TABLES = 256;
/** Slots of a process that are kept. */
const MAX_SLOTS_PER_TABLE = 1024;
/** How long a process that was seen to live is taken to, in ms: what it has granted does not change by its end. */
const LIVENESS_CACHE_MS = 1;

/** The table of another process, and how it is known that this is still there. */
interface PeerTable {
  readonly words: BigUint64Array;
  readonly started: bigint;
  /** Those that handles have named. */
  readonly slots: Map<number, PeerSlot>;
  /** When it was last seen to live, in ms. */
  lastSeenAlive: number;
  /** A file of its in /proc: it stays that of this very process, whatever else gets its id, and cannot be read once that has ended. */
  readonly lifeFile: number;
}

/** A slot of another process, as it was when a handle of it was first opened and found good: the same one for all handles of the grant. */
export interface PeerSlot {
  readonly generation: number;
  /** All of it, mapped. */
  readonly slot: Uint8Array;
  /** A copy of its head. */
  readonly head: Uint8Array;
  /** Where it is in the owner. */
  readonly slotAddress: bigint;
  /** Word 6 of it. */
  readonly memory: bigint;
  /** Of the grant in the owner's memory. */
  readonly offset: number;
  readonly length: number;
  readonly access: Access;
  /** What it says now to somebody with this handle; undefined: the grant is good. */
  refusal(): Refusal | undefined;
}

export class PeerGrantTables {
  readonly #addon: RdmaAddon | undefined;
  readonly #clock: Clock;
  /** By process and table: a process with threads has several. */
  readonly #tables = new Map<number, PeerTable>();

  constructor(addon: RdmaAddon | undefined, clock: Clock) {
    this.#addon = addon;
    this.#clock = clock;
  }

  /**
   * @returns undefined when the owner is not on this machine, or this process may not look into it
   * @throws RdmaError when the handle is refused, or its owner is gone
   */
  slotOf(handle: MemoryHandle): PeerSlot | undefined {
    const { process: name, slot } = handle;
    if (this.#addon === undefined || name.table < 0 || name.machine !== ownMachineId() || name.machine === 0n) {
      return undefined;
    }
    const known = this.#tableOf(this.#addon, name);
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
    // What the handle says beyond its right to the slot was said by whoever has sent it.
    if (found.length !== handle.length || found.access !== handle.access) throw refusalError("forged");
    return found;
  }

  /** A file that the owner has open, and that is memory of ours; undefined: this process may not open it. @throws RdmaError */
  openFile({ pid, started }: ProcessIdentity, fd: number): number | undefined {
    const path = `/proc/${pid}/fd/${fd}`;
    try {
      // Opening what it is not could wait for ever, or have effects.
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

  #tableOf(addon: RdmaAddon, name: ProcessIdentity): PeerTable | undefined {
    const key = name.pid * 2 ** 31 + name.table;
    const known = this.#tables.get(key);
    if (known !== undefined) {
      if (this.#isAlive(known)) {
        if (known.started === name.started) return known;
        // Whoever lies about this must not make others map the table again.
        throw refusalError("stale");
      }
      this.#tables.delete(key);
      closeSync(known.lifeFile);
    }
    const lifeFile = openLifeFile(name.pid);
    try {
      const now = startTimeOf(name.pid);
      if (lifeFile === undefined || now === undefined) throw peerEndedError(name.pid);
      if (now !== name.started) throw refusalError("stale");
      const words = this.#mapTable(addon, name);
      if (words === undefined) {
        closeSync(lifeFile);
        return undefined;
      }
      return this.#remember(key, {
        words,
        started: name.started,
        slots: new Map(),
        lastSeenAlive: this.#clock.now(),
        lifeFile,
      });
    } catch (error) {
      if (lifeFile !== undefined) closeSync(lifeFile);
      throw error;
    }
  }

  #mapTable(addon: RdmaAddon, name: ProcessIdentity): BigUint64Array | undefined {
    const fd = this.openFile(name, name.table);
    if (fd === undefined) return undefined;
    try {
      const words = new BigUint64Array(mapMemoryFile(addon, fd));
      const isTable =
        words[TableWord.magic] === TABLE_MAGIC &&
        words[TableWord.pid] === BigInt(name.pid) &&
        words[TableWord.started] === name.started &&
        words[TableWord.machine] === name.machine;
      if (!isTable) throw refusalError("forged");
      return words;
    } finally {
      closeSync(fd);
    }
  }

  /** What is mapped outlives its owner, and would go on to say yes. */
  #isAlive(known: PeerTable): boolean {
    const now = this.#clock.now();
    if (now - known.lastSeenAlive < LIVENESS_CACHE_MS) return true;
    known.lastSeenAlive = now;
    // Zeros: its thread has ended, and the descriptor may be another's by now.
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

/** Costs a twentieth of looking at when the process with an id has started. */
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
    // Memory of ours, but no table.
    throw refusalError("forged");
  }
}

/** A slot that says yes to somebody. @throws RdmaError when it does not any more */
function readSlot(words: BigUint64Array, handle: MemoryHandle): PeerSlot {
  const at = handle.slot * WORDS_PER_SLOT;
  const { generation, nonce } = handle;
  const slot = new Uint8Array(words.buffer, handle.slot * SLOT_BYTES, SLOT_BYTES);
  const head = slot.slice(0, SLOT_HEAD_BYTES);
  const own = new BigUint64Array(head.buffer);
  const refusal = () => whySlotRefuses(words, at, { generation, nonce });
  // Between the first look and the copy it may have been taken back.
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
