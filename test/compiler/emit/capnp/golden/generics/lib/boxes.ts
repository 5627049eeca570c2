// The types of schemas/lib/boxes.ts, without codecs.
export interface Box<T> {
  value: T;
  empty?: boolean;
}

export type Pair<A, B> = [first: A, second: B];
