/** One transfer, as an initiator asks a backend for it: what is to be moved, how far it is, whether it is still wanted. */

export type TransferDirection = "read" | "write";

export class TransferOperation {
  readonly direction: TransferDirection;
  /** Where bytes go, or come from. Neither it nor its buffer may be detached before the transfer has settled. */
  readonly local: Uint8Array;
  /** Three words for each stretch of bytes: offset in what the handle names, offset in `local`, length. All lie within both. */
  readonly segments: BigUint64Array;
  /** Of all stretches. */
  readonly bytes: number;
  #control: BigInt64Array | undefined;
  #cancelListeners: (() => void)[] | undefined;

  constructor(direction: TransferDirection, local: Uint8Array, stretches: BigUint64Array, bytes: number) {
    this.direction = direction;
    this.local = local;
    this.segments = stretches;
    this.bytes = bytes;
  }

  /** For native code: it ends when the first word is not 0, and counts bytes moved in the second. */
  get control(): BigInt64Array {
    this.#control ??= new BigInt64Array(2);
    return this.#control;
  }

  /** Bytes that have been moved so far. */
  get moved(): number {
    return Number(Atomics.load(this.control, 1));
  }

  addMoved(bytes: number): void {
    Atomics.add(this.control, 1, BigInt(bytes));
  }

  /** Nobody wants it any more: its time is over, or its signal says so. */
  get isCancelled(): boolean {
    return Atomics.load(this.control, 0) !== 0n;
  }

  cancel(): void {
    if (this.isCancelled) return;
    Atomics.store(this.control, 0, 1n);
    for (const listener of this.#cancelListeners ?? []) listener();
    this.#cancelListeners = undefined;
  }

  /** Called once, when it is cancelled; at once if it has been. */
  onCancel(listener: () => void): void {
    if (this.isCancelled) listener();
    else {
      this.#cancelListeners ??= [];
      this.#cancelListeners.push(listener);
    }
  }
}

/** Offsets and lengths of single stretches as numbers, for backends that are not native. */
export function* segmentsOf({
  segments,
}: TransferOperation): Generator<{ remote: number; local: number; length: number }> {
  for (let i = 0; i < segments.length; i += 3) {
    yield { remote: Number(segments[i]), local: Number(segments[i + 1]), length: Number(segments[i + 2]) };
  }
}
