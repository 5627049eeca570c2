/**
 * Whether the process at the other end of a queue pair lives: the protocol says nothing as long as nothing is transferred. So a few bytes
 * of it are read now and then, by which both ends find out, and free what they hold for the other.
 */
import type { Timer } from "../../link/clock.js";
import { Operation } from "../operation.js";
import { type Beat, SECRET_BYTES } from "./device.js";
import type { Devices, OpenPort } from "./devices.js";
import type { Pair } from "./pair.js";
import { status } from "./status.js";

/** Between two of them, in ms. */
const interval = 2_000;

/** Reads the other end's secret. @returns undefined when it does not answer */
export async function readBeat({ locals }: OpenPort, pair: Pair, beat: Beat): Promise<Uint8Array | undefined> {
  const view = new Uint8Array(SECRET_BYTES);
  const local = await locals.take(
    new Operation("read", view, BigUint64Array.of(0n, 0n, BigInt(view.length)), view.length),
  );
  const { region, offset } = local;
  const piece = { write: false, region, offset, length: view.length, remote: beat.address, key: beat.key };
  const code = await pair.move(piece);
  local.release(code === status.success);
  return code === status.success ? view : undefined;
}

export class Heartbeat {
  readonly #clock: Devices["clock"];
  #timer: Timer | undefined;

  /** @param ended called once: it does not answer any more, or is another one */
  constructor(clock: Devices["clock"], port: OpenPort, pair: Pair, beat: Beat, ended: () => void) {
    this.#clock = clock;
    const look = (): void => {
      readBeat(port, pair, beat).then(
        (secret) => {
          if (secret !== undefined && Buffer.compare(secret, beat.secret) === 0) this.#after(look);
          else if (this.#timer !== undefined) ended();
        },
        () => this.#after(look),
      );
    };
    this.#timer = clock.after(interval, look);
  }

  #after(look: () => void): void {
    if (this.#timer !== undefined) this.#timer = this.#clock.after(interval, look);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
