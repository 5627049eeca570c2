export interface Box<T> {
  value: T;
  empty?: boolean;
}

export type Pair<A, B> = [first: A, second: B];
