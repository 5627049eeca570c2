/**
 * An open RDMA port: its memory regions and its completion queue. Native calls and completions become promises. No
 * thread blocks or polls: the event loop watches the descriptor of the completion channel.
 */

import { getSystemErrorName } from "node:util";
import { lazyModules } from "../../../lazy-modules.js";
import type { Clock } from "../../../link/clock.js";
import { ConcurrencyLimit } from "../../../link/concurrency-limit.js";
import type { DescriptorWatch, RdmaAddon } from "../../../native/rdma-addon.js";
import { accessFlags, type NativeDevice } from "../../../native/verbs-addon.js";
import type { RdmaPort } from "./ports.js";
import { completionStatus, notPosted } from "./status.js";

/** Maximum number of transfers in flight on all queue pairs, less than the size of the completion queue. */
const maxInFlight = 2048;

/**
 * Size in bytes above which a transfer first yields to the event loop. A software device copies the bytes while the
 * transfer is posted.
 */
const yieldBytes = 64 << 10;

/** Memory registered with a device. */
export interface RegisteredRegion {
  readonly id: number;
  readonly address: bigint;
  /** The remote key, by which peers address the region. */
  readonly key: number;
  /** The memory of the region, which this reference keeps alive. */
  readonly view: Uint8Array;
}

/** One RDMA read or write, of at most 1 MiB. */
export interface DeviceTransfer {
  readonly write: boolean;
  readonly region: RegisteredRegion;
  /** Offset of the first byte in the region. */
  readonly offset: number;
  readonly length: number;
  /** Address of the first byte in the peer's process. */
  readonly remote: bigint;
  readonly key: number;
}

/**
 * A random secret in the memory of a process. Peers read it to check that the process is alive and is the right one.
 */
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
  /** Regions, each with its pending deregistration. */
  readonly #regions = new Map<RegisteredRegion, Promise<void> | undefined>();
  readonly #completions = new Map<number, (status: number) => void>();
  readonly #completionWords = new Uint32Array(2 * 64);
  #watch: DescriptorWatch | undefined;
  #heartbeatTarget: HeartbeatTarget | undefined;
  #tag = 0;
  #closing: Promise<void> | undefined;

  /** Opens a port. @throws Error if the device cannot be used */
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

  /** Registers memory. @throws Error, most often because the system limits the amount of locked memory */
  async register(view: Uint8Array, rights: number): Promise<RegisteredRegion> {
    const id = checkResult(
      await this.native.register(view, rights),
      `register ${view.length} bytes with ${this.port.device}`,
    );
    const region = { id, address: this.#addon.addressOf(view), key: this.native.keyOf(id), view };
    this.#regions.set(region, undefined);
    return region;
  }

  /**
   * Deregisters a region. When the promise has resolved, no peer can access the memory through the region. Idempotent.
   * @throws Error if the device fails to deregister the region
   */
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
    checkResult(code, `deregister memory of ${this.port.device}`);
  }

  /** Posts a transfer, for `QueuePair` only. Resolves with the status when the transfer accesses memory no more. */
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

  /** Closes the device. When the promise has resolved, the device accesses memory no more. Idempotent. */
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

/** Returns the result of a native call. @throws Error if the result is a negative error number */
export function checkResult(result: number, what: string): number {
  if (result >= 0) return result;
  const hint = result === -12 ? ". The memory that a process may lock is limited: see ulimit -l" : "";
  throw new Error(`cannot ${what}: ${getSystemErrorName(result)}${hint}`);
}
