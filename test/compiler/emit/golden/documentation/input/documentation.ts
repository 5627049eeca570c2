import type { Actor, Int32 } from "viceroy/schema";

/** One line. */
export interface OneLine {
  /** A field. */
  a: Int32;
  /**
   * Several lines,
   * with `code`:
   *
   * ```ts
   * const a = 1;
   * ```
   */
  b: Int32;
  /**
   * Tags that are not Viceroy's stay.
   *
   * @see {@link OneLine}
   * @deprecated use `b`
   */
  c?: Int32;
  // No documentation.
  d: Int32;
}

/**
 * A direction.
 */
export type Direction = "up" | "down";

/** Runs. */
export interface Runner extends Actor {
  /**
   * Runs for a while.
   *
   * @param distance in metres
   * @returns seconds
   * @concurrent
   */
  run(distance: Int32): number;
}
