/**
 * Whether the process at the other end of a queue pair lives: the protocol says nothing as long as nothing is transferred. So a few bytes
 * of it are read now and then, by which both ends find out, and free what they hold for the other.
 */
import type { Timer } from "../../../link/clock.js";
import { TransferOperation } from "../../transfer/transfer-operation.js";
import { type HeartbeatTarget, SECRET_BYTES } from "./device.js";
import type { OpenPort, RdmaDevices } from "./devices.js";
import type { QueuePair } from "./queue-pair.js";
import { completionStatus } from "./status.js";

/** Between two of them, in ms. */
const heartbeatInterval = 2_000;

/** Reads the other end's secret. @returns undefined when it does not answer */
export async function readHeartbeat(
  { localRegions }: OpenPort,
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

  /** @param ended called once: it does not answer any more, or is another one */
  constructor(clock: RdmaDevices["clock"], port: OpenPort, pair: QueuePair, beat: HeartbeatTarget, ended: () => void) {
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
