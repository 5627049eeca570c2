/** A part of the older schema and the same part of the newer one. */
export interface Pair<T> {
  readonly older: T;
  readonly newer: T;
}
