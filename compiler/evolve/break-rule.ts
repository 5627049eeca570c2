/**
 * What a rule of `viceroy break` is: it compares an older state of a project's schemas with a newer one and says what of the
 * change hurts whom. One rule a file, one code a rule; codes are never reused.
 */
import type { Position } from "../model/index.js";
import type { StateComparison } from "./comparison.js";

/**
 * Whom a change hurts. WIRE: processes of the older and the newer schema, and what has been written down: they refuse each
 * other's messages or misread them. SOURCE: people whose code no longer compiles, or whose JSON has other names. BEHAVIOUR:
 * callers who get another answer to the same call. DANGEROUS: nobody for certain; worth a look, and no failure.
 */
export type BreakClass = "WIRE" | "SOURCE" | "BEHAVIOUR" | "DANGEROUS";

export const breakClasses: readonly BreakClass[] = ["WIRE", "SOURCE", "BEHAVIOUR", "DANGEROUS"];

/** What a rule has found. */
export interface BreakFinding {
  /** As the schema says it: `Tree.leaves`, `Counter.increment`. */
  readonly place: string;
  /** In the newer files, or in the older ones where what it speaks of has gone. */
  readonly at: Position;
  readonly side: "older" | "newer";
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
}

export interface Break extends BreakFinding {
  readonly code: string;
  readonly class: BreakClass;
}

export interface BreakRule {
  readonly code: string;
  /** In words: `member-renamed`. */
  readonly name: string;
  readonly class: BreakClass;
  find(comparison: StateComparison): readonly BreakFinding[];
}
