/** A transfer cut into pieces that a device moves one by one; those that have failed come again. */
import { type Operation, stretchesOf } from "../operation.js";

/** In bytes: devices that are software are busy with one for a while. */
export const pieceBytes = 1 << 20;

/** Offsets in what is granted, and in the local view. */
export interface Part {
  readonly remote: number;
  readonly local: number;
  readonly length: number;
}

export class Pieces {
  readonly #rest: Generator<Part>;
  readonly #again: Part[] = [];

  constructor(operation: Operation) {
    this.#rest = cut(operation);
  }

  next(): Part | undefined {
    return this.#again.pop() ?? this.#rest.next().value;
  }

  giveBack(part: Part): void {
    this.#again.push(part);
  }
}

/** Where in the local view a transfer begins and ends, whatever lies between. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

export function spanOf(operation: Operation): Span {
  let begin = Number.POSITIVE_INFINITY;
  let end = 0;
  for (const { local, length } of stretchesOf(operation)) {
    begin = Math.min(begin, local);
    end = Math.max(end, local + length);
  }
  return { begin: Math.min(begin, end), end };
}

function* cut(operation: Operation): Generator<Part, undefined> {
  for (const { remote, local, length } of stretchesOf(operation)) {
    for (let at = 0; at < length; at += pieceBytes) {
      yield { remote: remote + at, local: local + at, length: Math.min(pieceBytes, length - at) };
    }
  }
}
