/**
 * A queue pair: a connection of two processes over which one reads and writes the other's memory. Breaks at the first transfer
 * that fails, as the protocol has it, and does not heal: there is another one then.
 */
import { lazyModules } from "../../lazy-modules.js";
import { check, type Device, type Piece } from "./device.js";
import { notPosted, status } from "./status.js";
import { Turns } from "./turns.js";

/** Transfers under way on one queue pair: enough to keep a network busy, at a mebibyte each. */
const mostUnderWay = 16;

/**
 * After 4.096 us times 2 to the `timeout`, 67 ms, a packet is sent again, up to so many times: a process that has died is noticed after
 * about half a second, and a packet that is lost costs little. Not 7 times, which Soft-RoCE takes for "for ever".
 */
const timeout = 14;
const retries = 6;

/** What one side must know of the other. */
export interface PairName {
  readonly gid: Uint8Array;
  readonly number: number;
  /** The number of its first packet. */
  readonly first: number;
  readonly lid: number;
  readonly mtu: number;
  readonly reads: number;
}

export class Pair {
  readonly device: Device;
  readonly name: PairName;
  readonly #id: number;
  readonly #turns = new Turns(mostUnderWay);
  #broken = false;
  #destroyed: Promise<void> | undefined;

  /** @throws Error when the device has no more of them */
  static async create(device: Device): Promise<Pair> {
    const id = check(await device.native.createPair(), `create a queue pair on ${device.port.device}`);
    return new Pair(device, id);
  }

  private constructor(device: Device, id: number) {
    this.device = device;
    this.#id = id;
    const { lid, mtu, reads } = device.native;
    const number = device.native.numberOf(id);
    this.name = { gid: device.port.gid, number, first: lazyModules.crypto.randomInt(1 << 24), lid, mtu, reads };
  }

  get broken(): boolean {
    return this.#broken || this.device.closed;
  }

  /** @throws Error when there is no way to the other side, as far as this one knows */
  async connect(peer: PairName): Promise<void> {
    const { gid, number, first, lid, mtu, reads } = peer;
    const { native, port } = this.device;
    const args = [gid, number, first, lid, mtu, reads, timeout, retries] as const;
    check(await native.connect(this.#id, this.name.first, ...args), `connect a queue pair of ${port.device}`);
  }

  /**
   * Moves one piece when it is its turn. Resolves to its status, when nothing touches the memory any more on its behalf.
   * @param wanted asked when it is its turn: whether it still is
   */
  move(piece: Piece, wanted: () => boolean = () => true): Promise<number> {
    return this.#turns.run(() =>
      this.device.turns.run(async () => {
        if (this.broken || !wanted()) return notPosted;
        const code = await this.device.post(this.#id, piece);
        if (code !== status.success) this.#broken = true;
        return code;
      }),
    );
  }

  /** Nothing is posted any more. What is under way ends, flushed; when all has, the queue pair is no more. Idempotent. */
  destroy(): Promise<void> {
    this.#broken = true;
    this.#destroyed ??= this.#destroy();
    return this.#destroyed;
  }

  async #destroy(): Promise<void> {
    const { device } = this;
    if (!device.closed) await device.native.fail(this.#id);
    await this.#turns.idle();
    if (!device.closed) await device.native.destroy(this.#id);
  }
}
