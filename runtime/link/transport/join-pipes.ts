/**
 * Copies the bytes of each of two connections to the other one, and ends one with the other. A side that takes no bytes
 * stops the reading of the other side, so that the copies that wait have a bounded size.
 */
import { CopyMemory } from "./copy-memory.js";
import type { PausablePipe, PipeSink } from "./pipe.js";

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
  readonly #memory = new CopyMemory();
  #waitingBytes = 0;
  #isPaused = false;
  #isScheduled = false;

  constructor(from: PausablePipe, to: PausablePipe, ended: () => void) {
    this.#from = from;
    this.#to = to;
    this.#onEnded = ended;
  }

  buffer(): Uint8Array {
    return this.#memory.room;
  }

  received(n: number): void {
    this.#waitingBytes += n;
    if (this.#waitingBytes > PAUSE_BYTES && !this.#isPaused) {
      this.#isPaused = true;
      this.#from.pause();
    }
    this.#memory.fill(n);
    if (this.#memory.isFull) this.#flush();
    else this.#schedule();
  }

  closed(error?: Error): void {
    this.#flush();
    this.#onEnded();
    if (error === undefined) this.#to.close();
    else this.#to.destroy(error);
  }

  /** Writes at the end of the tick, so that what comes in several pieces in one tick is one write. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    const taken = this.#memory.take();
    if (taken === undefined) return;
    const { bytes, release } = taken;
    this.#to.write([bytes], () => {
      release();
      this.#written(bytes.length);
    });
  }

  #written(n: number): void {
    this.#waitingBytes -= n;
    if (!this.#isPaused || this.#waitingBytes > RESUME_BYTES) return;
    this.#isPaused = false;
    this.#from.resume();
  }
}
