import type { Actor, Mesh, Uint32 } from "viceroy/schema";

/** A range of bytes of a file. A word belongs to the piece in which it begins, so words are not split. */
export interface Piece {
  file: string;
  start: number;
  end: number;
}

/** The outcome of one piece. */
export type Outcome = { kind: "counted" } | { kind: "binary" } | { kind: "unreadable"; reason: string };

/** The counts of one analyst so far. */
export interface Totals {
  pieces: Uint32;
  bytes: number;
  lines: number;
  words: number;
}

export interface WordCount {
  word: string;
  count: number;
}

/** Counts lines and words, and keeps the counts until they are merged. */
export interface Analyst extends Actor {
  analyse(piece: Piece): Outcome;
  totals(): Totals;
  /** Returns the number of occurrences of each word. */
  words(): Map<string, number>;
  /** Adds the words of the analyst in `others` that has the rank of this analyst. */
  absorb(others: Mesh<Analyst>): void;
  /** Returns the `count` most frequent words of at least `letters` letters. */
  mostFrequent(count: Uint32, letters: Uint32): WordCount[];
}
