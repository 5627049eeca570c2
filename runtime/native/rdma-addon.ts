/**
 * The face of the addon `native/rdma`, and how it is found. Whoever wants memory that others can read one-sided asks for it here; where
 * it is missing this is said once in each process, and everything goes on by `stream`, which needs none.
 */
import { type AddonLookup, findAddon } from "./find-addon.js";
import type { VerbsAddon } from "./verbs-addon.js";

/** What a transfer comes to; above 0 it is an errno. As in native/rdma/transfer.h. */
export const TransferOutcome = { done: 0, cancelled: -1, notGranted: -2, busy: -3 } as const;

/** What all transfers take. Memory must not move, or be detached, before the promise has settled. */
export type TransferArguments = readonly [
  /** 0: from the other's memory into `local`; 1: from `local` into the other's. */
  direction: 0 | 1,
  local: ArrayBufferView,
  /** Three words each: offset in what is granted, offset in `local`, length; in bytes. */
  stretches: BigUint64Array,
  /** The slot of the grant, mapped: 512 bytes, aligned. */
  slot: Uint8Array,
  /** The first 64 bytes that the slot must have before and after. */
  head: Uint8Array,
  /** Two words: set the first to cancel; the second counts bytes that have been moved. */
  control: BigInt64Array,
  /** When this process has started, in clock ticks since the boot: /proc/self/stat. */
  started: bigint,
  /** Threads of the pool that work on it; 0: it is done on the spot, and a number returned instead of a promise. */
  lanes: number,
  /** Bytes that the calling thread moves beside those, before it returns. */
  helped: number,
];

export interface RdmaAddon extends VerbsAddon {
  /**
   * New memory that others can map, zeroed. The descriptor is close-on-exec and stays open until it is closed.
   * @param wiped when this thread ends: others that have it mapped see zeros then
   * @throws Error
   */
  createMemory(bytes: number, wiped: boolean): { readonly fd: number; readonly buffer: ArrayBuffer };
  /**
   * Maps memory that another process has made by `createMemory`.
   * @param offset in bytes, a multiple of 4096
   * @param mode 0: what is written is everybody's; 1: what is written stays here
   * @throws Error when it is not such memory, or less of it
   */
  mapMemory(fd: number, offset: number, bytes: number, mode: 0 | 1): ArrayBuffer;
  /** Detaches such a buffer. Its memory is unmapped as soon as no transfer uses it. */
  unmap(buffer: ArrayBuffer): void;
  addressOf(view: ArrayBufferView): bigint;
  /** A few bytes of another process of this user. @returns 0, or an errno */
  readProcess(pid: number, address: bigint, local: ArrayBufferView): number;
  /** @param slotAddress of the same slot in the other process */
  processTransfer(...args: [...TransferArguments, pid: number, slotAddress: bigint]): number | Promise<number>;
  /** @param memory mapped: all that is granted */
  mappedTransfer(...args: [...TransferArguments, memory: Uint8Array]): number | Promise<number>;
  /** Event counters (eventfd): close-on-exec, they do not block. */
  createEvent(): number;
  signalEvent(fd: number): void;
  /** @returns whether it had been signalled */
  drainEvent(fd: number): boolean;
  /** Calls `ready` whenever a descriptor is readable. Keeps the event loop alive only after `ref`. Must be closed before the descriptor. */
  readonly Watch: new (
    fd: number,
    ready: () => void,
  ) => DescriptorWatch;
  readonly Channel: {
    /**
     * Offers one. @throws Error when the system has no memory or descriptors for it
     * @param bytes of each ring, a power of two @param token 16 bytes by which it is known
     */
    new (bytes: number, token: Uint8Array): NativeChannel;
    /** Joins the one that a process of this user offers. @throws Error when there is none with this size and token */
    new (bytes: number, token: Uint8Array, pid: number, memory: number, waker: number, awaited: number): NativeChannel;
  };
}

/**
 * Two rings in shared memory, one for each direction, and what wakes each side: the bytes of a link between processes of one host.
 * Nothing that the other side does to it harms this process.
 */
export interface NativeChannel {
  /** Numbers of the descriptors of who offers it, by which the other joins: memory, waker, awaited. Valid until `begin`. */
  descriptors(): readonly [number, number, number];
  /**
   * Both sides have it. From now on `ready` is called whenever there is something to read, or room where `write` has found too little;
   * where it returns false, not before `resume`.
   * @param sent bytes that this side has sent another way, and that come before those that are written here
   */
  begin(sent: number, ready: () => boolean): void;
  resume(): void;
  /** Bytes that the other side has sent another way before the first that came here; -1: none has come yet. */
  before(): number;
  /** @returns how many bytes of `bytes`, from an offset on, it has taken; -1: the other side has broken the ring */
  write(bytes: Uint8Array, from: number): number;
  /** @returns how many bytes it has copied to the beginning of `target`; 0: there are none; -1: the other side has broken the ring */
  read(target: Uint8Array): number;
  /** Gives back memory and descriptors. Idempotent; nothing else is called afterwards. */
  close(): void;
}

export interface DescriptorWatch {
  ref(): void;
  unref(): void;
  close(): void;
}

/** What is said when there is none completes `one-sided memory needs the addon: …`. */
export type RdmaAddonState = AddonLookup<RdmaAddon>;

let state: RdmaAddonState | undefined;

/** The addon, or why there is none; looked for once in each thread. Says nothing. */
export function rdmaAddonState(): RdmaAddonState {
  state ??= findAddon<RdmaAddon>("rdma");
  return state;
}

let said = false;

/** The addon; undefined if there is none, of which a warning of the process tells, once. */
export function rdmaAddon(): RdmaAddon | undefined {
  const found = rdmaAddonState();
  if (found.addon === undefined && !found.off && !said) {
    said = true;
    process.emitWarning(
      `one-sided memory needs the addon, and ${found.why}. Until then, bytes of RdmaBuffers go through the event loop of their ` +
        "owner (transport `stream`). Run `npx viceroy setup --rdma` to build it",
      { type: "ViceroyWarning", code: "VICEROY_RDMA_ADDON" },
    );
  }
  return found.addon;
}
