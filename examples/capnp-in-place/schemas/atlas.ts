import type { Actor, Float32, RdmaBuffer, Uint32 } from "viceroy/schema";

/** A square of 256 by 256 points. */
export interface Tile {
  name: string;
  /** Degrees east. */
  west: number;
  north: number;
  /** Metres above sea level of the highest point. */
  highest: Float32;
  /** Metres above sea level of each point, row by row. */
  heights: Int16Array;
}

export interface Atlas {
  title: string;
  tiles: Tile[];
}

/** Keeps an atlas as a Cap'n Proto message in memory that other processes read. */
export interface Library extends Actor<[tiles: Uint32]> {
  /** A buffer for reading that begins with the message. */
  atlas(): RdmaBuffer;
}
