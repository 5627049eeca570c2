/** One transfer, as an initiator asks a backend for it: what is to be moved, how far it is, whether it is still wanted. */

export type Direction = "read" | "write";

export class Operation {
  readonly direction: Direction;
  /** Where bytes go, or come from. Neither it nor its buffer may be detached before the transfer has settled. */
  readonly local: Uint8Array;
  /** Three words for each stretch of bytes: offset in what the handle names, offset in `local`, length. All lie within both. */
  readonly stretches: BigUint64Array;
  /** Of all stretches. */
  readonly bytes: number;
  #control: BigInt64Array | undefined;
  #listeners: (() => void)[] | undefined;

  constructor(direction: Direction, local: Uint8Array, stretches: BigUint64Array, bytes: number) {
    this.direction = direction;
    this.local = local;
    this.stretches = stretches;
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

  count(bytes: number): void {
    Atomics.add(this.control, 1, BigInt(bytes));
  }

  /** Nobody wants it any more: its time is over, or its signal says so. */
  get cancelled(): boolean {
    return Atomics.load(this.control, 0) !== 0n;
  }

  cancel(): void {
    if (this.cancelled) return;
    Atomics.store(this.control, 0, 1n);
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = undefined;
  }

  /** Called once, when it is cancelled; at once if it has been. */
  onCancel(listener: () => void): void {
    if (this.cancelled) listener();
    else {
      this.#listeners ??= [];
      this.#listeners.push(listener);
    }
  }
}

/** Offsets and lengths of single stretches as numbers, for backends that are not native. */
export function* stretchesOf({ stretches }: Operation): Generator<{ remote: number; local: number; length: number }> {
  for (let i = 0; i < stretches.length; i += 3) {
    yield { remote: Number(stretches[i]), local: Number(stretches[i + 1]), length: Number(stretches[i + 2]) };
  }
}
