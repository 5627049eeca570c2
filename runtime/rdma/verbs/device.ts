/**
 * An RDMA port, opened: what is registered with it, and what completes on it. Native calls as promises with errors; completions as promises
 * of who has posted. Nothing blocks, nothing spins: the event loop watches the descriptor of the completions.
 */

import { getSystemErrorName } from "node:util";
import { lazyModules } from "../../lazy-modules.js";
import type { Clock } from "../../link/clock.js";
import type { DescriptorWatch, RdmaAddon } from "../../native/rdma-addon.js";
import { accessFlags, type NativeDevice } from "../../native/verbs-addon.js";
import type { Port } from "./ports.js";
import { notPosted, status } from "./status.js";
import { Turns } from "./turns.js";

/** Transfers under way on all queue pairs: fewer than the completion queue holds. */
const mostUnderWay = 2048;

/** Longer transfers, in bytes, leave the event loop a turn: devices that are software move them while they are posted. */
const long = 64 << 10;

/** Memory registered with a device. */
export interface Region {
  readonly id: number;
  readonly address: bigint;
  /** By which peers name it. */
  readonly key: number;
  /** Kept alive by this. */
  readonly view: Uint8Array;
}

/** A transfer of at most a mebibyte. */
export interface Piece {
  readonly write: boolean;
  readonly region: Region;
  /** In the region. */
  readonly offset: number;
  readonly length: number;
  /** In the peer's memory. */
  readonly remote: bigint;
  readonly key: number;
}

/** A few random bytes of a process that its peers may read: they tell that it lives, and that it is the one that is reached. */
export interface Beat {
  readonly address: bigint;
  readonly key: number;
  readonly secret: Uint8Array;
}

export const SECRET_BYTES = 16;

export class Device {
  readonly port: Port;
  readonly native: NativeDevice;
  readonly turns = new Turns(mostUnderWay);
  readonly #addon: RdmaAddon;
  readonly #clock: Clock;
  readonly #posts = new Turns(1);
  /** Each with the call that takes it back. */
  readonly #regions = new Map<Region, Promise<void> | undefined>();
  readonly #completions = new Map<number, (status: number) => void>();
  readonly #words = new Uint32Array(2 * 64);
  #watch: DescriptorWatch | undefined;
  #beat: Beat | undefined;
  #tag = 0;
  #closed: Promise<void> | undefined;

  /** @throws Error when the device cannot be used */
  static async open(addon: RdmaAddon, port: Port, clock: Clock): Promise<Device> {
    const device = new Device(addon, port, clock);
    try {
      check(await device.native.open(), `open RDMA device ${port.device}`);
      device.#watch = new addon.Watch(device.native.descriptor, () => device.#poll());
      const secret = new Uint8Array(lazyModules.crypto.randomBytes(SECRET_BYTES));
      const { address, key } = await device.register(secret, accessFlags.remoteRead);
      device.#beat = { address, key, secret };
      return device;
    } catch (error) {
      await device.close();
      throw error;
    }
  }

  private constructor(addon: RdmaAddon, port: Port, clock: Clock) {
    this.#addon = addon;
    this.#clock = clock;
    this.port = port;
    this.native = new addon.VerbsDevice(port.device, port.port, port.gidIndex);
  }

  get beat(): Beat {
    return this.#beat!;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** @throws Error, mostly since the system allows no more memory to be locked */
  async register(view: Uint8Array, rights: number): Promise<Region> {
    const id = check(
      await this.native.register(view, rights),
      `register ${view.length} bytes with ${this.port.device}`,
    );
    const region = { id, address: this.#addon.addressOf(view), key: this.native.keyOf(id), view };
    this.#regions.set(region, undefined);
    return region;
  }

  /** When it has resolved nobody reaches the memory through this region any more. Idempotent. @throws Error when that cannot be said */
  async deregister(region: Region): Promise<void> {
    if (this.closed) return this.#closed;
    let ending = this.#regions.get(region);
    if (ending === undefined && this.#regions.has(region)) {
      ending = this.#deregister(region);
      this.#regions.set(region, ending);
    }
    await ending;
  }

  async #deregister(region: Region): Promise<void> {
    const code = await this.native.deregister(region.id);
    if (code === 0) this.#regions.delete(region);
    else this.#regions.set(region, undefined);
    check(code, `take back memory from ${this.port.device}`);
  }

  /** Resolves to the status of the transfer, when it touches no memory any more. For `Pair` alone. */
  async post(pair: number, piece: Piece): Promise<number> {
    if (piece.length > long) await this.#posts.run(() => new Promise<void>((resolve) => this.#clock.soon(resolve)));
    return this.closed ? notPosted : this.#post(pair, piece);
  }

  #post(pair: number, { write, region, offset, length, remote, key }: Piece): Promise<number> {
    do this.#tag = (this.#tag + 1) >>> 0;
    while (this.#completions.has(this.#tag));
    const tag = this.#tag;
    return new Promise((resolve) => {
      if (this.#completions.size === 0) this.#watch?.ref();
      this.#completions.set(tag, resolve);
      const failed = this.native.post(pair, region.id, tag, write ? 1 : 0, offset, length, remote, key);
      if (failed !== 0) this.#complete(tag, notPosted);
    });
  }

  #complete(tag: number, code: number): void {
    const done = this.#completions.get(tag);
    if (done === undefined) return;
    this.#completions.delete(tag);
    if (this.#completions.size === 0) this.#watch?.unref();
    done(code);
  }

  #poll(): void {
    for (;;) {
      const count = this.closed ? 0 : this.native.poll(this.#words);
      for (let index = 0; index < count; index++) this.#complete(this.#words[2 * index]!, this.#words[2 * index + 1]!);
      if (count < this.#words.length / 2) return;
    }
  }

  /** Ends everything of it: nothing touches memory any more when it has resolved. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#watch?.close();
    this.#watch = undefined;
    await this.native.close();
    this.#regions.clear();
    for (const tag of [...this.#completions.keys()]) this.#complete(tag, status.flushed);
  }
}

/** @throws Error when a native call has failed */
export function check(result: number, what: string): number {
  if (result >= 0) return result;
  const hint = result === -12 ? ". The memory that a process may lock is limited: see ulimit -l" : "";
  throw new Error(`cannot ${what}: ${getSystemErrorName(result)}${hint}`);
}
