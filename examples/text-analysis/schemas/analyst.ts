import type { Actor, Mesh, Uint32 } from "viceroy/schema";

/** Part of a file, by bytes. What counts is the text that begins in it: words are not torn apart. */
export interface Piece {
  file: string;
  start: number;
  end: number;
}

/** What became of a piece. */
export type Outcome = { kind: "counted" } | { kind: "binary" } | { kind: "unreadable"; reason: string };

/** What one analyst has counted so far. */
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

/** Counts lines and words, and keeps what it has counted until it is merged. */
export interface Analyst extends Actor {
  analyse(piece: Piece): Outcome;
  totals(): Totals;
  /** How often each word was there. */
  words(): Map<string, number>;
  /** Adds the words of another analyst: of the one with my own rank in `others`. */
  absorb(others: Mesh<Analyst>): void;
  /** The words of at least `letters` letters that were there most often. */
  mostFrequent(count: Uint32, letters: Uint32): WordCount[];
}
