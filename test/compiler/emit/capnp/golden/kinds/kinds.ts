// The types of schemas/kinds.ts, without codecs.
import type {
  Any,
  Duration,
  Empty,
  FieldMask,
  ListValue,
  NullValue,
  Port,
  StringValue,
  Struct,
  Timestamp,
  UnknownCase,
  UnknownNumber,
  UnknownValue,
  Value,
} from "viceroy/codegen/v1";

/** What a large message looks like: a few words about it, and the bulk. */
export interface Recording {
  title: string;
  /** Hertz. */
  rate: number;
  started: Date;
  samples: Float64Array;
  marks: Mark[];
  /** As it was recorded. */
  raw: Uint8Array;
}

export interface Mark {
  at: bigint;
  text: string;
  /** Absent: nobody knows. */
  sure?: boolean;
  weight?: number | null;
  by: string | null;
}

/** Names that are the same in camel case, that the notation has itself, or that readers have. */
export interface Names {
  two_words: string;
  twoWords: number;
  "two words": boolean;
  größe: number;
  "1st": string;
  constructor: string;
  __proto__: string;
  $data: string;
  struct: string;
  union: string;
  import: string;
  using: string;
  const: string;
  enum: string;
  group: string;
  void: string;
  URLOfIt: string;
  written: string;
}

export interface Text {
  text: Data;
}

export interface Data {
  list: List;
}

export interface List {
  text?: Text;
}

export type Grid = (bigint | null)[][];

/** Contains itself, without a struct between. */
export type Nest = Nest[];

export type Pair = [left: Grid | null, right?: Nest, ...string[]];

export type Key =
  | { readonly case: "id"; readonly value: bigint }
  | { readonly case: "name"; readonly value: string }
  | { readonly case: "nothing"; readonly value: boolean | null }
  | { readonly case: "grid"; readonly value: Grid }
  | UnknownCase;

export interface Everything {
  key: Key;
  keys?: Key[];
  pair: Pair;
  pairs: (Pair | null)[];
  grid: Grid;
  nest: Nest;
  flags: boolean[];
  maybeFlags: (boolean | null)[];
  maybeDates: (Date | null)[];
  byKey: Map<Key, Set<Mark>>;
  record: Record<string, Mark | null>;
  records?: Record<string, "on" | "off" | UnknownValue>[] | null;
  level: 1 | 2 | 3 | UnknownNumber;
  mixed?: 0.5 | "half" | UnknownValue | null;
  inner: { a: { b?: { c: number } } };
  big?: bigint | null;
  small?: number;
  text?: Text | null;
  recordings: Page<Recording>;
  pages?: Page<Page<Grid>>;
}

export interface Page<T> {
  items: T[];
  first?: T;
  next: Page<T> | null;
}

/** Protobuf's own. */
export interface WellKnown {
  stamp: Timestamp;
  span?: Duration;
  mask: FieldMask;
  empty: Empty | null;
  any: Any;
  object: Struct;
  value: Value;
  list?: ListValue;
  nothing: NullValue;
  name: StringValue | null;
  spans: Duration[];
}

/** A port means nothing outside of a mesh. */
export interface Order {
  what: string;
  answer: Port<string>;
  answers: Port<string>[];
  amount: number;
}
