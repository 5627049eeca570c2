/**
 * Copies the bytes of each of two connections to the other one, and ends one with the other. A side that takes no bytes
 * stops the reading of the other side, so that the copies that wait have a bounded size.
 */
import type { PausablePipe, PipeSink } from "./pipe.js";

const READ_BYTES = 32 * 1024;

/** The numbers of waiting bytes at which reading stops and continues. */
const PAUSE_BYTES = 256 * 1024;
const RESUME_BYTES = 64 * 1024;

/** Joins two connections that are not open yet. @param ended called once, when the first of them has ended */
export function joinPipes(a: PausablePipe, b: PausablePipe, ended: () => void = () => {}): void {
  let hasEnded = false;
  const end = () => {
    if (!hasEnded) ended();
    hasEnded = true;
  };
  a.open(new PipeCopy(a, b, end));
  b.open(new PipeCopy(b, a, end));
}

class PipeCopy implements PipeSink {
  readonly #from: PausablePipe;
  readonly #to: PausablePipe;
  readonly #onEnded: () => void;
  readonly #memory = Buffer.allocUnsafeSlow(READ_BYTES);
  #waitingBytes = 0;
  #isPaused = false;

  constructor(from: PausablePipe, to: PausablePipe, ended: () => void) {
    this.#from = from;
    this.#to = to;
    this.#onEnded = ended;
  }

  buffer(): Uint8Array {
    return this.#memory;
  }

  received(n: number): void {
    this.#waitingBytes += n;
    if (this.#waitingBytes > PAUSE_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#from.pause();
    }
    this.#to.write([Buffer.from(this.#memory.subarray(0, n))], () => this.#written(n));
  }

  closed(error?: Error): void {
    this.#onEnded();
    if (error === undefined) this.#to.close();
    else this.#to.destroy(error);
  }

  #written(n: number): void {
    this.#waitingBytes -= n;
    if (!this.#isPaused || this.#waitingBytes > RESUME_BYTES) return;
    this.#isPaused = false;
    this.#from.resume();
  }
}
