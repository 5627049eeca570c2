/**
 * Tables of grants of other processes of this machine, mapped: what their owners say of their memory is seen at once, without them.
 * A process is found by its id, and known by when it started; its table by what stands in it.
 */
import { closeSync, openSync, readlinkSync, readSync } from "node:fs";
import type { RdmaAddon } from "../native/rdma.js";
import { RdmaError } from "./errors.js";
import type { Handle, ProcessName } from "./handle.js";
import { ownMachine, startOf } from "./process-name.js";
import { type Refusal, refusalOf, refused } from "./refusal.js";
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

/** The table of another process, and how it is known that this is still there. */
interface Known {
  readonly words: BigUint64Array;
  readonly started: bigint;
  /** A file of its in /proc: it stays that of this very process, whatever else gets its id, and cannot be read once that has ended. */
  readonly life: number;
}

/** A slot of another process, as it was when the handle was opened and found good. */
export interface PeerSlot {
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
  /** What it says now to somebody with this handle; undefined: the grant is good. */
  refusal(): Refusal | undefined;
}

export class PeerTables {
  readonly #addon: RdmaAddon | undefined;
  /** By process and table: a process with threads has several. */
  readonly #known = new Map<number, Known>();

  constructor(addon: RdmaAddon | undefined) {
    this.#addon = addon;
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
    const words = this.#table(this.#addon, name);
    if (words === undefined) return undefined;
    if (!(slot > 0 && slot < SLOTS)) throw refused("forged");
    const at = slot * WORDS;
    const refusal = () => lookUp(words, at, handle);
    const why = refusal();
    if (why !== undefined) throw refused(why);
    const mapped = new Uint8Array(words.buffer, slot * SLOT_BYTES, SLOT_BYTES);
    const head = mapped.slice(0, HEAD_BYTES);
    const own = new BigUint64Array(head.buffer);
    // What the handle says beyond its right to the slot was said by whoever has sent it.
    const rights = handle.access === "rw" ? 3n : 1n;
    if (own[Word.length] !== BigInt(handle.length) || own[Word.rights] !== rights) throw refused("forged");
    // Between the first look and the copy it may have been taken back.
    if (refusal() !== undefined) throw refused(refusal() ?? "dropped");
    return {
      slot: mapped,
      head,
      slotAddress: words[TableWord.address]! + BigInt(slot * SLOT_BYTES),
      memory: own[Word.memory]!,
      offset: Number(own[Word.offset]),
      refusal,
    };
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

  #table(addon: RdmaAddon, name: ProcessName): BigUint64Array | undefined {
    const key = name.pid * 2 ** 31 + name.table;
    const known = this.#known.get(key);
    if (known !== undefined) {
      this.#known.delete(key);
      // What is mapped outlives its owner, and would go on to say yes.
      const isTable = known.words[TableWord.magic] === MAGIC;
      if (isTable && known.started === name.started && lives(known.life)) {
        this.#known.set(key, known);
        return known.words;
      }
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
      this.#keep(key, { words, started: name.started, life });
      return words;
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

  #keep(key: number, known: Known): void {
    if (this.#known.size >= KEPT) {
      const [oldest, { life }] = this.#known.entries().next().value!;
      this.#known.delete(oldest);
      closeSync(life);
    }
    this.#known.set(key, known);
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

function lookUp(words: BigUint64Array, at: number, handle: Handle): Refusal | undefined {
  const word = Atomics.load(words, at + Word.word);
  const nonce = [words[at + Word.nonce]!, words[at + Word.nonce + 1]!] as const;
  return refusalOf(handle, generationOf(word), stateOf(word), nonce);
}

export function gone(pid: number): RdmaError {
  return new RdmaError("ERR_RDMA_PEER_GONE", `cannot reach the memory of process ${pid}: it has ended`);
}
