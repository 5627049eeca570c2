/** The part of the RDMA addon that uses RDMA devices, implemented in `native/rdma/verbs/verbs_object.cc`. */

/** The functions of the addon that need libibverbs. */
export interface VerbsAddon {
  /** Returns the reason why libibverbs cannot be used, or undefined if it can. */
  verbsMissing(): string | undefined;
  readonly VerbsDevice: new (name: string, port: number, gidIndex: number) => NativeDevice;
}

/** Access flags of a memory registration. */
export const accessFlags = { localWrite: 1, remoteWrite: 2, remoteRead: 4 } as const;

/**
 * An RDMA device. The promises are those of calls on the thread pool, and they do not reject: they resolve to 0 or a
 * positive result, or to a negative errno.
 */
export interface NativeDevice {
  open(): Promise<number>;
  /** Closes the device. After the promise has resolved, the device accesses no memory. */
  close(): Promise<number> | undefined;
  /** @returns the number of the region. The view must not move until it is deregistered */
  register(view: Uint8Array, access: number): Promise<number>;
  deregister(region: number): Promise<number>;
  /** Returns the key by which peers name the region. */
  keyOf(region: number): number;
  /** @returns the number of a new queue pair */
  createPair(): Promise<number>;
  /** Returns the number by which peers name the queue pair. */
  numberOf(pair: number): number;
  connect(
    pair: number,
    first: number,
    gid: Uint8Array,
    number: number,
    peerFirst: number,
    lid: number,
    mtu: number,
    reads: number,
    timeout: number,
    retries: number,
  ): Promise<number>;
  /** Moves the queue pair to the error state: work in progress completes as flushed. */
  fail(pair: number): Promise<number>;
  destroy(pair: number): Promise<number>;
  /** @returns immediately, with 0 or a negative errno */
  post(
    pair: number,
    region: number,
    tag: number,
    direction: number,
    offset: number,
    length: number,
    remote: bigint,
    key: number,
  ): number;
  /** @returns the number of completions, or a negative errno. Each completion is two words: tag and status */
  poll(words: Uint32Array): number;
  /** A descriptor that is readable when there are completions. */
  readonly descriptor: number;
  readonly lid: number;
  /** The MTU as a code of the protocol: 1 is 256 bytes, 5 is 4,096. */
  readonly mtu: number;
  /** The number of reads that a queue pair answers at the same time. */
  readonly reads: number;
}
