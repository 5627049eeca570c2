import type { Int32, Uint64 } from "viceroy/schema";

export interface Point {
  x: number;
  y: number;
}

/** Every kind of collection. */
export interface Collections {
  list: Int32[];
  fixed: readonly string[];
  grid: number[][];
  points: Point[];
  pair: [string, Int32];
  labelled: readonly [name: string, count?: Int32];
  tail: [string, ...Int32[]];
  byName: Map<string, Point>;
  byId: ReadonlyMap<Uint64, Point[]>;
  names: Set<string>;
  constant: ReadonlySet<Int32>;
  record: Record<string, Point>;
  indexed: { [key: string]: Int32 };
  inline: { a: Int32; b: { c: string } };
}

export type Rows = Point[];
export type Table = Map<string, Rows>;
