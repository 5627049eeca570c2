/** Two ends of a pipe in shared memory within this process, and one that a test plays by hand. */
import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { systemRandom } from "../../../../runtime/link/clock.js";
import { inProcessPipePair } from "../../../../runtime/link/transport/in-process/pipe.js";
import type { Pipe, PipeSink } from "../../../../runtime/link/transport/pipe.js";
import {
  type ChannelOffer,
  readOffer,
  writeAnswer,
} from "../../../../runtime/link/transport/shared-memory/channel-offer.js";
import {
  type AddonSource,
  joinSharedMemory,
  offerSharedMemory,
  RING_BYTES,
} from "../../../../runtime/link/transport/shared-memory/pipe.js";
import { sharedMemoryAddon } from "../../../../runtime/link/transport/shared-memory/select-addon.js";
import { rdmaAddonState } from "../../../../runtime/native/rdma-addon.js";
import { onMemory } from "../../pipe-pair.js";

const state = rdmaAddonState();
// Where shared memory is what is tested, its absence is an error.
if (onMemory) sharedMemoryAddon();
/** Why the tests that need the addon are left out; undefined: they are not. */
export const missing = state.addon === undefined ? state.why : undefined;

export const memory: AddonSource = () => state.addon;
export const none: AddonSource = () => undefined;

export interface Pair {
  readonly near: Pipe;
  readonly far: Pipe;
}

export function pair(bytes = RING_BYTES, offers = memory, joins = memory): Pair {
  const [near, far] = inProcessPipePair();
  return { near: offerSharedMemory(near, systemRandom, offers, bytes), far: joinSharedMemory(far, joins) };
}

/** The layout of the memory of a channel, as in native/rdma/channel/channel_memory.cc and ring.h. */
export const Layout = {
  token: 0,
  before: [16, 24],
  /** Of the ring from who offers to who joins, and of the other. */
  rings: [128, 640],
  head: 0,
  start: 8,
  tail: 128,
  asleep: 256,
  wanting: 384,
  data: 4096,
} as const;

/** The side that joins, as a test plays it: it sees the offer, and has the memory as a file. */
export class Hostile {
  readonly pipe: Pipe;
  /** What has come by the socket. */
  heard = Buffer.alloc(0);
  readonly offer: Promise<ChannelOffer>;
  #file = -1;
  #waker = -1;

  constructor(pipe: Pipe) {
    this.pipe = pipe;
    let offered: (offer: ChannelOffer) => void = () => {};
    this.offer = new Promise((resolve) => {
      offered = resolve;
    });
    const page = Buffer.alloc(4096);
    const sink: PipeSink = {
      buffer: () => page,
      received: (n) => {
        this.heard = Buffer.concat([this.heard, page.subarray(0, n)]);
        const offer = readOffer(this.heard);
        if (offer !== undefined) offered(offer);
      },
      closed: () => {},
    };
    pipe.open(sink);
  }

  /** Opens what is offered and says that it is taken. */
  async take(): Promise<void> {
    const { pid, memory: number, awaited } = await this.offer;
    this.#file = openSync(`/proc/${pid}/fd/${number}`, "r+");
    this.#waker = openSync(`/proc/${pid}/fd/${awaited}`, "r+");
    this.pipe.write([writeAnswer(true)], () => {});
  }

  say(...chunks: readonly Uint8Array[]): void {
    this.pipe.write(chunks, () => {});
  }

  word(at: number): bigint {
    const bytes = Buffer.alloc(8);
    readSync(this.#file, bytes, 0, 8, at);
    return bytes.readBigUInt64LE();
  }

  setWord(at: number, value: bigint): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
    writeSync(this.#file, bytes, 0, 8, at);
  }

  /** Has the other side look. */
  wake(): void {
    writeSync(this.#waker, "!");
  }

  close(): void {
    if (this.#file >= 0) closeSync(this.#file);
    if (this.#waker >= 0) closeSync(this.#waker);
    this.pipe.destroy();
  }
}

/** Plays the joining side against one that offers. */
export function hostile(bytes = RING_BYTES): { readonly near: Pipe; readonly far: Hostile } {
  const [near, far] = inProcessPipePair();
  return { near: offerSharedMemory(near, systemRandom, memory, bytes), far: new Hostile(far) };
}
