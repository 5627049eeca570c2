/**
 * An RDMA port, opened: what is registered with it, and what completes on it. Native calls as promises with errors; completions as promises
 * of who has posted. Nothing blocks, nothing spins: the event loop watches the descriptor of the completions.
 */

import { getSystemErrorName } from "node:util";
import { lazyModules } from "../../../lazy-modules.js";
import type { Clock } from "../../../link/clock.js";
import type { DescriptorWatch, RdmaAddon } from "../../../native/rdma-addon.js";
import { accessFlags, type NativeDevice } from "../../../native/verbs-addon.js";
import { ConcurrencyLimit } from "./concurrency-limit.js";
import type { RdmaPort } from "./ports.js";
import { completionStatus, notPosted } from "./status.js";

/** Transfers under way on all queue pairs: fewer than the completion queue holds. */
const maxInFlight = 2048;

/** Longer transfers, in bytes, leave the event loop a turn: devices that are software move them while they are posted. */
const yieldBytes = 64 << 10;

/** Memory registered with a device. */
export interface RegisteredRegion {
  readonly id: number;
  readonly address: bigint;
  /** By which peers name it. */
  readonly key: number;
  /** Kept alive by this. */
  readonly view: Uint8Array;
}

/** A transfer of at most a mebibyte. */
export interface DeviceTransfer {
  readonly write: boolean;
  readonly region: RegisteredRegion;
  /** In the region. */
  readonly offset: number;
  readonly length: number;
  /** In the peer's memory. */
  readonly remote: bigint;
  readonly key: number;
}

/** A few random bytes of a process that its peers may read: they tell that it lives, and that it is the one that is reached. */
export interface HeartbeatTarget {
  readonly address: bigint;
  readonly key: number;
  readonly secret: Uint8Array;
}

export const SECRET_BYTES = 16;

export class RdmaDevice {
  readonly port: RdmaPort;
  readonly native: NativeDevice;
  readonly transferLimit = new ConcurrencyLimit(maxInFlight);
  readonly #addon: RdmaAddon;
  readonly #clock: Clock;
  readonly #yieldLimit = new ConcurrencyLimit(1);
  /** Each with the call that takes it back. */
  readonly #regions = new Map<RegisteredRegion, Promise<void> | undefined>();
  readonly #completions = new Map<number, (status: number) => void>();
  readonly #completionWords = new Uint32Array(2 * 64);
  #watch: DescriptorWatch | undefined;
  #heartbeatTarget: HeartbeatTarget | undefined;
  #tag = 0;
  #closing: Promise<void> | undefined;

  /** @throws Error when the device cannot be used */
  static async open(addon: RdmaAddon, port: RdmaPort, clock: Clock): Promise<RdmaDevice> {
    const device = new RdmaDevice(addon, port, clock);
    try {
      checkResult(await device.native.open(), `open RDMA device ${port.device}`);
      device.#watch = new addon.Watch(device.native.descriptor, () => device.#poll());
      const secret = new Uint8Array(lazyModules.crypto.randomBytes(SECRET_BYTES));
      const { address, key } = await device.register(secret, accessFlags.remoteRead);
      device.#heartbeatTarget = { address, key, secret };
      return device;
    } catch (error) {
      await device.close();
      throw error;
    }
  }

  private constructor(addon: RdmaAddon, port: RdmaPort, clock: Clock) {
    this.#addon = addon;
    this.#clock = clock;
    this.port = port;
    this.native = new addon.VerbsDevice(port.device, port.port, port.gidIndex);
  }

  get heartbeatTarget(): HeartbeatTarget {
    return this.#heartbeatTarget!;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** @throws Error, mostly since the system allows no more memory to be locked */
  async register(view: Uint8Array, rights: number): Promise<RegisteredRegion> {
    const id = checkResult(
      await this.native.register(view, rights),
      `register ${view.length} bytes with ${this.port.device}`,
    );
    const region = { id, address: this.#addon.addressOf(view), key: this.native.keyOf(id), view };
    this.#regions.set(region, undefined);
    return region;
  }

  /** When it has resolved nobody reaches the memory through this region any more. Idempotent. @throws Error when that cannot be said */
  async deregister(region: RegisteredRegion): Promise<void> {
    if (this.isClosed) return this.#closing;
    let ending = this.#regions.get(region);
    if (ending === undefined && this.#regions.has(region)) {
      ending = this.#deregister(region);
      this.#regions.set(region, ending);
    }
    await ending;
  }

  async #deregister(region: RegisteredRegion): Promise<void> {
    const code = await this.native.deregister(region.id);
    if (code === 0) this.#regions.delete(region);
    else this.#regions.set(region, undefined);
    checkResult(code, `take back memory from ${this.port.device}`);
  }

  /** Resolves to the status of the transfer, when it touches no memory any more. For `Pair` alone. */
  async post(pair: number, piece: DeviceTransfer): Promise<number> {
    if (piece.length > yieldBytes)
      await this.#yieldLimit.run(() => new Promise<void>((resolve) => this.#clock.nextTurn(resolve)));
    return this.isClosed ? notPosted : this.#post(pair, piece);
  }

  #post(pair: number, { write, region, offset, length, remote, key }: DeviceTransfer): Promise<number> {
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
      const count = this.isClosed ? 0 : this.native.poll(this.#completionWords);
      for (let index = 0; index < count; index++)
        this.#complete(this.#completionWords[2 * index]!, this.#completionWords[2 * index + 1]!);
      if (count < this.#completionWords.length / 2) return;
    }
  }

  /** Ends everything of it: nothing touches memory any more when it has resolved. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watch?.close();
    this.#watch = undefined;
    await this.native.close();
    this.#regions.clear();
    for (const tag of [...this.#completions.keys()]) this.#complete(tag, completionStatus.flushed);
  }
}

/** @throws Error when a native call has failed */
export function checkResult(result: number, what: string): number {
  if (result >= 0) return result;
  const hint = result === -12 ? ". The memory that a process may lock is limited: see ulimit -l" : "";
  throw new Error(`cannot ${what}: ${getSystemErrorName(result)}${hint}`);
}
