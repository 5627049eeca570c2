import type { Actor, Int32, Stream } from "viceroy/schema";

/** Counts. */
export interface Counter extends Actor<[initial: Int32]> {
  increment(by?: Int32): void;
  value(): Int32;
  /** Yields the value `count` times. */
  watch(count: Int32): Stream<Int32>;
}
