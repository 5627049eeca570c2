/**
 * Tables of grants of other processes of this machine, mapped: what their owners say of their memory is seen at once, without them.
 * A process is found by its id, and known by when it started; its table by what stands in it.
 */
import { closeSync, openSync, readlinkSync, readSync } from "node:fs";
import type { Clock } from "../link/clock.js";
import type { RdmaAddon } from "../native/rdma-addon.js";
import { RdmaError } from "./errors.js";
import type { Access } from "./grant.js";
import type { Handle, ProcessName } from "./handle.js";
import { ownMachine, startOf } from "./process-name.js";
import { type Refusal, refusalOf, refused, type SlotClaim } from "./refusal.js";
import {
  generationOf,
  HEAD_BYTES,
  MAGIC,
  SLOT_BYTES,
  SLOTS,
  stateOf,
  TABLE_BYTES,
  TableWord,
  WORDS,
  Word,
} from "./slot.js";

/** What the link of the descriptor of memory of ours leads to. */
const OUR_FILE = "/memfd:viceroy (deleted)";

/** Processes that are kept mapped; the one that was used longest ago goes. */
const KEPT = 256;
/** Slots of a process that are kept. */
const KEPT_SLOTS = 1024;
/** How long a process that was seen to live is taken to, in ms: what it has granted does not change by its end. */
const FRESH = 1;

/** The table of another process, and how it is known that this is still there. */
interface Known {
  readonly words: BigUint64Array;
  readonly started: bigint;
  /** Those that handles have named. */
  readonly slots: Map<number, PeerSlot>;
  /** When it was last seen to live, in ms. */
  seen: number;
  /** A file of its in /proc: it stays that of this very process, whatever else gets its id, and cannot be read once that has ended. */
  readonly life: number;
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

export class PeerTables {
  readonly #addon: RdmaAddon | undefined;
  readonly #clock: Clock;
  /** By process and table: a process with threads has several. */
  readonly #known = new Map<number, Known>();

  constructor(addon: RdmaAddon | undefined, clock: Clock) {
    this.#addon = addon;
    this.#clock = clock;
  }

  /**
   * @returns undefined when the owner is not on this machine, or this process may not look into it
   * @throws RdmaError when the handle is refused, or its owner is gone
   */
  slotOf(handle: Handle): PeerSlot | undefined {
    const { process: name, slot } = handle;
    if (this.#addon === undefined || name.table < 0 || name.machine !== ownMachine() || name.machine === 0n) {
      return undefined;
    }
    const known = this.#table(this.#addon, name);
    if (known === undefined) return undefined;
    if (!(slot > 0 && slot < SLOTS)) throw refused("forged");
    const why = lookUp(known.words, slot * WORDS, handle);
    if (why !== undefined) throw refused(why);
    let found = known.slots.get(slot);
    if (found?.generation !== handle.generation) {
      found = slotIn(known.words, handle);
      if (known.slots.size >= KEPT_SLOTS) known.slots.delete(known.slots.keys().next().value!);
      known.slots.set(slot, found);
    }
    // What the handle says beyond its right to the slot was said by whoever has sent it.
    if (found.length !== handle.length || found.access !== handle.access) throw refused("forged");
    return found;
  }

  /** A file that the owner has open, and that is memory of ours; undefined: this process may not open it. @throws RdmaError */
  open({ pid, started }: ProcessName, fd: number): number | undefined {
    const path = `/proc/${pid}/fd/${fd}`;
    try {
      // Opening what it is not could wait for ever, or have effects.
      if (readlinkSync(path) !== OUR_FILE) throw refused("forged");
      return openSync(path, "r+");
    } catch (error) {
      if (error instanceof RdmaError) throw error;
      const now = startOf(pid);
      if (now === undefined) throw gone(pid);
      if (now !== started) throw refused("stale");
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") throw refused("dropped");
      return undefined;
    }
  }

  #table(addon: RdmaAddon, name: ProcessName): Known | undefined {
    const key = name.pid * 2 ** 31 + name.table;
    const known = this.#known.get(key);
    if (known !== undefined) {
      if (this.#isFresh(known)) {
        if (known.started === name.started) return known;
        // Whoever lies about this must not make others map the table again.
        throw refused("stale");
      }
      this.#known.delete(key);
      closeSync(known.life);
    }
    const life = lifeOf(name.pid);
    try {
      const now = startOf(name.pid);
      if (life === undefined || now === undefined) throw gone(name.pid);
      if (now !== name.started) throw refused("stale");
      const words = this.#map(addon, name);
      if (words === undefined) {
        closeSync(life);
        return undefined;
      }
      return this.#keep(key, { words, started: name.started, slots: new Map(), seen: this.#clock.now(), life });
    } catch (error) {
      if (life !== undefined) closeSync(life);
      throw error;
    }
  }

  #map(addon: RdmaAddon, name: ProcessName): BigUint64Array | undefined {
    const fd = this.open(name, name.table);
    if (fd === undefined) return undefined;
    try {
      const words = new BigUint64Array(mapOf(addon, fd));
      const isTable =
        words[TableWord.magic] === MAGIC &&
        words[TableWord.pid] === BigInt(name.pid) &&
        words[TableWord.started] === name.started &&
        words[TableWord.machine] === name.machine;
      if (!isTable) throw refused("forged");
      return words;
    } finally {
      closeSync(fd);
    }
  }

  /** What is mapped outlives its owner, and would go on to say yes. */
  #isFresh(known: Known): boolean {
    const now = this.#clock.now();
    if (now - known.seen < FRESH) return true;
    known.seen = now;
    // Zeros: its thread has ended, and the descriptor may be another's by now.
    return known.words[TableWord.magic] === MAGIC && lives(known.life);
  }

  #keep(key: number, known: Known): Known {
    if (this.#known.size >= KEPT) {
      let [oldest, least] = this.#known.entries().next().value!;
      for (const [other, one] of this.#known) if (one.seen < least.seen) [oldest, least] = [other, one];
      this.#known.delete(oldest);
      closeSync(least.life);
    }
    this.#known.set(key, known);
    return known;
  }
}

const byte = new Uint8Array(1);

function lifeOf(pid: number): number | undefined {
  try {
    return openSync(`/proc/${pid}/comm`, "r");
  } catch {
    return undefined;
  }
}

/** Costs a twentieth of looking at when the process with an id has started. */
function lives(life: number): boolean {
  try {
    return readSync(life, byte, 0, 1, 0) === 1;
  } catch {
    return false;
  }
}

function mapOf(addon: RdmaAddon, fd: number): ArrayBuffer {
  try {
    return addon.mapMemory(fd, 0, TABLE_BYTES, 0);
  } catch {
    // Memory of ours, but no table.
    throw refused("forged");
  }
}

/** A slot that says yes to somebody. @throws RdmaError when it does not any more */
function slotIn(words: BigUint64Array, handle: Handle): PeerSlot {
  const at = handle.slot * WORDS;
  const { generation, nonce } = handle;
  const slot = new Uint8Array(words.buffer, handle.slot * SLOT_BYTES, SLOT_BYTES);
  const head = slot.slice(0, HEAD_BYTES);
  const own = new BigUint64Array(head.buffer);
  const refusal = () => lookUp(words, at, { generation, nonce });
  // Between the first look and the copy it may have been taken back.
  const why = refusal();
  if (why !== undefined) throw refused(why);
  return {
    generation,
    slot,
    head,
    slotAddress: words[TableWord.address]! + BigInt(handle.slot * SLOT_BYTES),
    memory: own[Word.memory]!,
    offset: Number(own[Word.offset]),
    length: Number(own[Word.length]),
    access: own[Word.rights] === 3n ? "rw" : "r",
    refusal,
  };
}

function lookUp(words: BigUint64Array, at: number, claim: SlotClaim): Refusal | undefined {
  const word = Atomics.load(words, at + Word.word);
  const nonce = [words[at + Word.nonce]!, words[at + Word.nonce + 1]!] as const;
  return refusalOf(claim, generationOf(word), stateOf(word), nonce);
}

export function gone(pid: number): RdmaError {
  return new RdmaError("ERR_RDMA_PEER_GONE", `cannot reach the memory of process ${pid}: it has ended`);
}
