/**
 * The interface of the addon `native/rdma`, and its lookup. The addon provides memory that other processes can access
 * one-sidedly. Without it, each process prints one warning and uses the transport `stream`, which needs no addon.
 */
import { type AddonLookup, findAddon } from "./find-addon.js";
import type { VerbsAddon } from "./verbs-addon.js";

/** The target of the link in /proc/<pid>/fd of each descriptor of memory that `createMemory` has created. */
export const MEMORY_FILE_LINK = "/memfd:viceroy (deleted)";

/** Results of a transfer; values above 0 are an errno. As in `native/rdma/transfer/transfer.h`. */
export const TransferOutcome = { done: 0, cancelled: -1, notGranted: -2, busy: -3 } as const;

/**
 * The arguments that all transfers have in common. Memory must not move or be detached before the promise has settled.
 */
export type TransferArguments = readonly [
  /** 0 copies from the peer's memory into `local`; 1 copies from `local` into the peer's memory. */
  direction: 0 | 1,
  local: ArrayBufferView,
  /** The segments, three words each: offset in the granted memory, offset in `local`, length; all in bytes. */
  segments: BigUint64Array,
  /** The mapped slot of the grant: 512 bytes, aligned. */
  slot: Uint8Array,
  /** The first 64 bytes that the slot must contain before and after the transfer. */
  head: Uint8Array,
  /**
   * Two words: a nonzero value in the first cancels the transfer; the second counts the bytes that have been copied.
   */
  control: BigInt64Array,
  /** The start time of this process in clock ticks since boot, from /proc/self/stat. */
  started: bigint,
  /**
   * Number of pool threads that copy. With 0, the calling thread copies everything and a number is returned instead of
   * a promise.
   */
  lanes: number,
  /** Number of bytes that the calling thread copies in addition, before the function returns. */
  helped: number,
];

export interface RdmaAddon extends VerbsAddon {
  /**
   * Creates zeroed memory that other processes can map. The descriptor is close-on-exec and stays open until it is
   * closed.
   * @param wiped whether the memory is zeroed when this thread ends; processes that have mapped it then read zeros
   * @throws Error
   */
  createMemory(bytes: number, wiped: boolean): { readonly fd: number; readonly buffer: ArrayBuffer };
  /**
   * Creates memory with the bytes of all parts, which no process can change any more. The descriptor is as that of `createMemory`.
   * @throws Error when the system has no descriptors or no memory of this kind left
   */
  storeMemory(parts: readonly Uint8Array[]): number;
  /**
   * Creates empty memory, to which this process writes until `sealMemory`. The descriptor is as that of `createMemory`.
   * @throws Error when the system has no descriptors left
   */
  beginMemory(): number;
  /** Seals memory of `beginMemory`: it is as that of `storeMemory` then. @throws Error */
  sealMemory(fd: number): void;
  /**
   * Marks a file as used by this process, until the descriptor is closed and nothing of it is mapped, however the process ends.
   * @throws Error when the file system has no locks
   */
  markUsed(fd: number): void;
  /** Returns whether a file is marked by others that have opened it. @throws Error when the file system has no locks */
  isUsed(fd: number): boolean;
  /** Makes V8 count memory that it does not know of, so that it collects what keeps it. @param bytes negative when it is freed */
  countMemory(bytes: number): void;
  /**
   * Maps memory that another process has created with `createMemory` or `storeMemory`.
   * @param offset in bytes, a multiple of 4096
   * @param mode 0: writes are shared with all processes; 1: writes stay private to this process
   * @throws Error when the descriptor is not such memory, or the memory is too small
   */
  mapMemory(fd: number, offset: number, bytes: number, mode: 0 | 1): ArrayBuffer;
  /** Detaches a mapped buffer. Its memory is unmapped as soon as no transfer uses it. */
  unmap(buffer: ArrayBuffer): void;
  addressOf(view: ArrayBufferView): bigint;
  /** Reads a few bytes of another process of this user. @returns 0, or an errno */
  readProcess(pid: number, address: bigint, local: ArrayBufferView): number;
  /** @param slotAddress the address of the same slot in the other process */
  processTransfer(...args: [...TransferArguments, pid: number, slotAddress: bigint]): number | Promise<number>;
  /** @param memory the whole granted memory, mapped */
  mappedTransfer(...args: [...TransferArguments, memory: Uint8Array]): number | Promise<number>;
  /** Creates an event counter (eventfd). It is close-on-exec and does not block. */
  createEvent(): number;
  signalEvent(fd: number): void;
  /** @returns whether the event had been signalled */
  drainEvent(fd: number): boolean;
  /**
   * Calls `ready` whenever a descriptor is readable. Keeps the event loop alive only after `ref`. Must be closed before
   * its descriptor.
   */
  readonly Watch: new (
    fd: number,
    ready: () => void,
  ) => DescriptorWatch;
  readonly Channel: {
    /**
     * Creates and offers a channel.
     * @throws Error when the system has no memory or descriptors left
     * @param bytes the size of each ring, a power of two
     * @param token 16 bytes that identify the channel
     */
    new (bytes: number, token: Uint8Array): NativeChannel;
    /**
     * Joins a channel that a process of this user offers.
     * @throws Error when there is no channel with this size and token
     */
    new (bytes: number, token: Uint8Array, pid: number, memory: number, waker: number, awaited: number): NativeChannel;
  };
}

/**
 * A channel between processes of one host: a ring in shared memory for each direction, and the descriptors that wake
 * each side. It carries the bytes of a link. No action of the other side can harm this process.
 */
export interface NativeChannel {
  /**
   * Returns the descriptor numbers of the offering side, with which the other side joins: memory, waker, awaited. Valid
   * until `begin`.
   */
  descriptors(): readonly [number, number, number];
  /**
   * Starts the channel after both sides have it. `ready` is called whenever there is data to read, or room after
   * `write` found too little. If `ready` returns false, it is called again only after `resume`.
   * @param sent number of bytes that this side has sent over another connection and that precede the bytes written here
   */
  begin(sent: number, ready: () => boolean): void;
  resume(): void;
  /**
   * Returns the number of bytes that the other side has sent over another connection before its first byte here, or -1
   * if no byte has arrived here yet.
   */
  before(): number;
  /**
   * @returns the number of bytes of `bytes`, from offset `from`, that were written; -1 if the other side has corrupted
   * the ring
   */
  write(bytes: Uint8Array, from: number): number;
  /**
   * @returns the number of bytes that were copied to the beginning of `target`; 0 if there are none; -1 if the other
   * side has corrupted the ring
   */
  read(target: Uint8Array): number;
  /** Releases memory and descriptors. Idempotent; no other method may be called afterwards. */
  close(): void;
}

export interface DescriptorWatch {
  ref(): void;
  unref(): void;
  close(): void;
}

/** The addon, or the reason why there is none, which completes "one-sided memory needs the addon, and …". */
export type RdmaAddonState = AddonLookup<RdmaAddon>;

let state: RdmaAddonState | undefined;

/** Returns the addon, or the reason why there is none. Looks for it once per thread, and prints no warning. */
export function rdmaAddonState(): RdmaAddonState {
  state ??= findAddon<RdmaAddon>("rdma");
  return state;
}

let said = false;

/** Returns the addon, or undefined if there is none. In that case the first call emits a process warning. */
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
