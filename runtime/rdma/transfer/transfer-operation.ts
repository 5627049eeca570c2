/** One transfer that an initiator requests of a backend: its segments, its progress, and whether it was cancelled. */

export type TransferDirection = "read" | "write";

export class TransferOperation {
  readonly direction: TransferDirection;
  /** The local view. Its ArrayBuffer must not be detached before the transfer has settled. */
  readonly local: Uint8Array;
  /**
   * Three words for each segment: the offset in the granted memory, the offset in `local`, the length. All are in
   * bounds.
   */
  readonly segments: BigUint64Array;
  /** Number of bytes of all segments. */
  readonly bytes: number;
  #control: BigInt64Array | undefined;
  #cancelListeners: (() => void)[] | undefined;

  constructor(direction: TransferDirection, local: Uint8Array, segments: BigUint64Array, bytes: number) {
    this.direction = direction;
    this.local = local;
    this.segments = segments;
    this.bytes = bytes;
  }

  /**
   * Two words for native code. A first word other than 0 cancels the transfer; the second counts the transferred bytes.
   */
  get control(): BigInt64Array {
    this.#control ??= new BigInt64Array(2);
    return this.#control;
  }

  /** Number of bytes that have been transferred. */
  get moved(): number {
    return Number(Atomics.load(this.control, 1));
  }

  addMoved(bytes: number): void {
    Atomics.add(this.control, 1, BigInt(bytes));
  }

  /** Returns whether the transfer was cancelled by its time limit or its signal. */
  get isCancelled(): boolean {
    return Atomics.load(this.control, 0) !== 0n;
  }

  cancel(): void {
    if (this.isCancelled) return;
    Atomics.store(this.control, 0, 1n);
    for (const listener of this.#cancelListeners ?? []) listener();
    this.#cancelListeners = undefined;
  }

  /** Calls `listener` once, when the transfer is cancelled, or at once if it was cancelled before. */
  onCancel(listener: () => void): void {
    if (this.isCancelled) listener();
    else {
      this.#cancelListeners ??= [];
      this.#cancelListeners.push(listener);
    }
  }
}

/** Yields the segments as numbers, for backends in TypeScript. */
export function* segmentsOf({
  segments,
}: TransferOperation): Generator<{ remote: number; local: number; length: number }> {
  for (let i = 0; i < segments.length; i += 3) {
    yield { remote: Number(segments[i]), local: Number(segments[i + 1]), length: Number(segments[i + 2]) };
  }
}
