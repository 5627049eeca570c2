import type { Int32, Uint32 } from "viceroy/schema";
import type { Elsewhere, Rank } from "./other.js";

export declare enum Level {
  Low = 0,
  High = 1,
}

/** Small enough to be written and read in place. */
export interface Label {
  name: string;
  level: Level;
  rank: Rank;
  weight: number;
  text: string;
}

/** Holds small messages in all ways: those in the variable part have their own codecs called. */
export interface Labelled {
  title: string;
  level: Level;
  main: Label;
  note?: string;
  labels: Label[];
  lists: string[][];
  spare?: Label;
  open: Label | null;
  gaps: (Label | null)[];
  count: Uint32;
}

/** Text of other parts separates the runs of strings. */
export interface Mixed {
  first: string;
  second: Label;
  byName: Map<string, Label>;
  names: readonly string[];
  other: Elsewhere;
  last: Label[];
  maybe?: Level;
}

/** Too large to be written in place. */
export interface Large {
  a: Int32;
  b: Int32;
  c: Int32;
  d: Int32;
  e: Int32;
  f: Int32;
  g: Int32;
  h: string;
  i: string;
}

/** Has messages that are called: a large one, one of another file, and one with parts. */
export interface Called {
  large: Large;
  elsewhere: Elsewhere[];
  mixed: Mixed;
}
