// The types of schemas/collections.ts, without codecs.
export interface Point {
  x: number;
  y: number;
}

/** Every kind of collection. */
export interface Collections {
  list: number[];
  fixed: readonly string[];
  grid: number[][];
  points: Point[];
  pair: [string, number];
  labelled: readonly [name: string, count?: number];
  tail: [string, ...number[]];
  byName: Map<string, Point>;
  byId: ReadonlyMap<bigint, Point[]>;
  names: Set<string>;
  constant: ReadonlySet<number>;
  record: Record<string, Point>;
  indexed: Record<string, number>;
  inline: { a: number; b: { c: string } };
}

export type Rows = Point[];

export type Table = Map<string, Rows>;
