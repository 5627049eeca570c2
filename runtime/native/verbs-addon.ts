/** The part of the addon that RDMA devices need: native/rdma/verbs.cc. */

export interface VerbsAddon {
  /** Why libibverbs cannot be used; undefined: it can. */
  verbsMissing(): string | undefined;
  readonly VerbsDevice: new (name: string, port: number, gidIndex: number) => NativeDevice;
}

/** Bits of what a registration allows. */
export const accessFlags = { localWrite: 1, remoteWrite: 2, remoteRead: 4 } as const;

/**
 * An RDMA device. Promises are of calls in the pool of threads and do not reject: they resolve to 0, or to what the call gives,
 * above 0; below 0 it is a negative errno.
 */
export interface NativeDevice {
  open(): Promise<number>;
  /** When it has resolved the device touches no memory any more. */
  close(): Promise<number> | undefined;
  /** @returns the region. The view must stay where it is until it is deregistered */
  register(view: Uint8Array, access: number): Promise<number>;
  deregister(region: number): Promise<number>;
  /** By which peers name the region. */
  keyOf(region: number): number;
  /** @returns a queue pair */
  createPair(): Promise<number>;
  /** Of a queue pair, by which peers name it. */
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
  /** What is under way completes, flushed. */
  fail(pair: number): Promise<number>;
  destroy(pair: number): Promise<number>;
  /** @returns 0 or a negative errno, at once */
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
  /** @returns how many completions there were; each is two words, tag and status. Or a negative errno */
  poll(words: Uint32Array): number;
  /** Readable when there are completions. */
  readonly descriptor: number;
  readonly lid: number;
  /** As a code of the protocol: 1 is 256 bytes, 5 is 4,096. */
  readonly mtu: number;
  /** Reads that a queue pair answers at a time. */
  readonly reads: number;
}
