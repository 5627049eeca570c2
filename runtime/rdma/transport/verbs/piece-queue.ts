/** The pieces of a transfer. A device transfers them one by one, and failed pieces are queued again. */
import { segmentsOf, type TransferOperation } from "../../transfer/transfer-operation.js";

/** Maximum size of a piece in bytes. It is small because a software device is busy for the time of a piece. */
export const maxPieceBytes = 1 << 20;

/** A piece: its offsets in the granted memory and in the local view, and its length in bytes. */
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

/** The range of the local view that contains all segments of a transfer. */
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
