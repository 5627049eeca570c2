import type { Actor, Float32, RdmaBuffer, Uint32 } from "viceroy/schema";

/** A square of 256 by 256 places. */
export interface Tile {
  name: string;
  /** Degrees. */
  west: number;
  north: number;
  /** Metres above the sea. */
  highest: Float32;
  /** Of each place, in metres, row by row. */
  heights: Int16Array;
}

export interface Atlas {
  title: string;
  tiles: Tile[];
}

/** Keeps an atlas as a Cap'n Proto message in memory that others read. */
export interface Library extends Actor<[tiles: Uint32]> {
  /** For reading. The message is at its beginning. */
  atlas(): RdmaBuffer;
}
