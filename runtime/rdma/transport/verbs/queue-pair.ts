/**
 * A queue pair: a connection of two processes, over which one reads and writes the memory of the other. As the RDMA
 * protocol demands, it breaks at the first failed transfer and cannot be repaired; a new one replaces it.
 */
import { lazyModules } from "../../../lazy-modules.js";
import { ConcurrencyLimit } from "../../../link/concurrency-limit.js";
import { checkResult, type DeviceTransfer, type RdmaDevice } from "./device.js";
import { completionStatus, notPosted } from "./status.js";

/** Maximum number of transfers of 1 MiB in flight on a queue pair, which keeps a network busy. */
const maxInFlight = 16;

/**
 * A packet is sent again after 4.096 us * 2^`ackTimeout` = 67 ms, up to `retries` times. A dead process is thus
 * detected after about half a second, and a lost packet delays a transfer little. The value 7 means "for ever" in
 * Soft-RoCE.
 */
const ackTimeout = 14;
const retries = 6;

/** The parameters that one side needs to connect to the other. */
export interface QueuePairAddress {
  readonly gid: Uint8Array;
  readonly number: number;
  /** The sequence number of the first packet. */
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

  /** Creates a queue pair. Rejects if the device has reached its limit. */
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

  /** Connects to the queue pair of a peer. Rejects if the device cannot address the peer. */
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
   * Transfers one piece, after the pieces before it. Resolves with the status when the transfer accesses memory no
   * more.
   * @param wanted returns whether the piece is still wanted; called when its turn has come
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

  /** Destroys the queue pair. Transfers in flight are flushed first. Idempotent. */
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
