/** A transfer cut into pieces that a device moves one by one; those that have failed come again. */
import { segmentsOf, type TransferOperation } from "../../transfer/transfer-operation.js";

/** In bytes: devices that are software are busy with one for a while. */
export const maxPieceBytes = 1 << 20;

/** Offsets in what is granted, and in the local view. */
export interface TransferPart {
  readonly remote: number;
  readonly local: number;
  readonly length: number;
}

export class PieceQueue {
  readonly #remaining: Generator<TransferPart>;
  readonly #failed: TransferPart[] = [];

  constructor(operation: TransferOperation) {
    this.#remaining = cutIntoParts(operation);
  }

  next(): TransferPart | undefined {
    return this.#failed.pop() ?? this.#remaining.next().value;
  }

  giveBack(part: TransferPart): void {
    this.#failed.push(part);
  }
}

/** Where in the local view a transfer begins and ends, whatever lies between. */
export interface LocalSpan {
  readonly begin: number;
  readonly end: number;
}

export function spanOf(operation: TransferOperation): LocalSpan {
  let begin = Number.POSITIVE_INFINITY;
  let end = 0;
  for (const { local, length } of segmentsOf(operation)) {
    begin = Math.min(begin, local);
    end = Math.max(end, local + length);
  }
  return { begin: Math.min(begin, end), end };
}

function* cutIntoParts(operation: TransferOperation): Generator<TransferPart, undefined> {
  for (const { remote, local, length } of segmentsOf(operation)) {
    for (let at = 0; at < length; at += maxPieceBytes) {
      yield { remote: remote + at, local: local + at, length: Math.min(maxPieceBytes, length - at) };
    }
  }
}
