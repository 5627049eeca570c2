/**
 * A queue pair: a connection of two processes over which one reads and writes the other's memory. Breaks at the first transfer
 * that fails, as the protocol has it, and does not heal: there is another one then.
 */
import { lazyModules } from "../../../lazy-modules.js";
import { ConcurrencyLimit } from "./concurrency-limit.js";
import { checkResult, type DeviceTransfer, type RdmaDevice } from "./device.js";
import { completionStatus, notPosted } from "./status.js";

/** Transfers under way on one queue pair: enough to keep a network busy, at a mebibyte each. */
const maxInFlight = 16;

/**
 * After 4.096 us times 2 to the `timeout`, 67 ms, a packet is sent again, up to so many times: a process that has died is noticed after
 * about half a second, and a packet that is lost costs little. Not 7 times, which Soft-RoCE takes for "for ever".
 */
const ackTimeout = 14;
const retries = 6;

/** What one side must know of the other. */
export interface QueuePairAddress {
  readonly gid: Uint8Array;
  readonly number: number;
  /** The number of its first packet. */
  readonly firstPacket: number;
  readonly lid: number;
  readonly mtu: number;
  readonly reads: number;
}

export class QueuePair {
  readonly device: RdmaDevice;
  readonly address: QueuePairAddress;
  readonly #id: number;
  readonly #transferLimit = new ConcurrencyLimit(maxInFlight);
  #isBroken = false;
  #destroying: Promise<void> | undefined;

  /** @throws Error when the device has no more of them */
  static async create(device: RdmaDevice): Promise<QueuePair> {
    const id = checkResult(await device.native.createPair(), `create a queue pair on ${device.port.device}`);
    return new QueuePair(device, id);
  }

  private constructor(device: RdmaDevice, id: number) {
    this.device = device;
    this.#id = id;
    const { lid, mtu, reads } = device.native;
    const number = device.native.numberOf(id);
    this.address = {
      gid: device.port.gid,
      number,
      firstPacket: lazyModules.crypto.randomInt(1 << 24),
      lid,
      mtu,
      reads,
    };
  }

  get isBroken(): boolean {
    return this.#isBroken || this.device.isClosed;
  }

  /** @throws Error when there is no way to the other side, as far as this one knows */
  async connect(peer: QueuePairAddress): Promise<void> {
    const { gid, number, firstPacket, lid, mtu, reads } = peer;
    const { native, port } = this.device;
    const args = [gid, number, firstPacket, lid, mtu, reads, ackTimeout, retries] as const;
    checkResult(
      await native.connect(this.#id, this.address.firstPacket, ...args),
      `connect a queue pair of ${port.device}`,
    );
  }

  /**
   * Moves one piece when it is its turn. Resolves to its status, when nothing touches the memory any more on its behalf.
   * @param wanted asked when it is its turn: whether it still is
   */
  move(piece: DeviceTransfer, wanted: () => boolean = () => true): Promise<number> {
    return this.#transferLimit.run(() =>
      this.device.transferLimit.run(async () => {
        if (this.isBroken || !wanted()) return notPosted;
        const code = await this.device.post(this.#id, piece);
        if (code !== completionStatus.success) this.#isBroken = true;
        return code;
      }),
    );
  }

  /** Nothing is posted any more. What is under way ends, flushed; when all has, the queue pair is no more. Idempotent. */
  destroy(): Promise<void> {
    this.#isBroken = true;
    this.#destroying ??= this.#destroy();
    return this.#destroying;
  }

  async #destroy(): Promise<void> {
    const { device } = this;
    if (!device.isClosed) await device.native.fail(this.#id);
    await this.#transferLimit.whenIdle();
    if (!device.isClosed) await device.native.destroy(this.#id);
  }
}
