/**
 * Checks whether the peer of a queue pair is alive. The RDMA protocol reports nothing while nothing is transferred, so
 * each side reads a few bytes of the other one periodically, and frees its resources when the other side is gone.
 */
import type { Timer } from "../../../link/clock.js";
import { TransferOperation } from "../../transfer/transfer-operation.js";
import { type HeartbeatTarget, SECRET_BYTES } from "./device.js";
import type { OpenRdmaPort, RdmaDevices } from "./devices.js";
import type { QueuePair } from "./queue-pair.js";
import { completionStatus } from "./status.js";

/** Interval between heartbeats in ms. */
const heartbeatInterval = 2_000;

/** Reads the secret of the peer. Resolves with undefined if the read fails. */
export async function readHeartbeat(
  { localRegions }: OpenRdmaPort,
  pair: QueuePair,
  beat: HeartbeatTarget,
): Promise<Uint8Array | undefined> {
  const view = new Uint8Array(SECRET_BYTES);
  const local = await localRegions.acquire(
    new TransferOperation("read", view, BigUint64Array.of(0n, 0n, BigInt(view.length)), view.length),
  );
  const { region, offset } = local;
  const piece = { write: false, region, offset, length: view.length, remote: beat.address, key: beat.key };
  const code = await pair.move(piece);
  local.release(code === completionStatus.success);
  return code === completionStatus.success ? view : undefined;
}

export class Heartbeat {
  readonly #clock: RdmaDevices["clock"];
  #timer: Timer | undefined;

  /** @param ended called once, when the peer does not answer any more or has another secret */
  constructor(
    clock: RdmaDevices["clock"],
    port: OpenRdmaPort,
    pair: QueuePair,
    beat: HeartbeatTarget,
    ended: () => void,
  ) {
    this.#clock = clock;
    const look = (): void => {
      readHeartbeat(port, pair, beat).then(
        (secret) => {
          if (secret !== undefined && Buffer.compare(secret, beat.secret) === 0) this.#schedule(look);
          else if (this.#timer !== undefined) ended();
        },
        () => this.#schedule(look),
      );
    };
    this.#timer = clock.after(heartbeatInterval, look);
  }

  #schedule(look: () => void): void {
    if (this.#timer !== undefined) this.#timer = this.#clock.after(heartbeatInterval, look);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
