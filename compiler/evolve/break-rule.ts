/**
 * The interface of a rule of `viceroy break`. A rule compares an older state of a project's schemas with a newer one
 * and reports what the change breaks and for whom. Each rule has its own file and its own code; codes are never reused.
 */
import type { Position } from "../model/index.js";
import type { StateComparison } from "./comparison.js";

/**
 * Who is affected by a breaking change.
 * - WIRE: processes with the older and the newer schema, and readers of stored data. They refuse or misread messages.
 * - SOURCE: users whose code no longer compiles, or whose JSON has other names.
 * - BEHAVIOUR: callers who get another answer to the same call.
 * - DANGEROUS: possibly nobody. The finding needs a look, but it does not make the command fail.
 */
export type BreakClass = "WIRE" | "SOURCE" | "BEHAVIOUR" | "DANGEROUS";

export const breakClasses: readonly BreakClass[] = ["WIRE", "SOURCE", "BEHAVIOUR", "DANGEROUS"];

/** A breaking change that a rule found. */
export interface BreakFinding {
  /** The name in the schema: `Tree.leaves`, `Counter.increment`. */
  readonly place: string;
  /** The position in the newer files, or in the older ones if the declaration is gone. */
  readonly at: Position;
  readonly side: "older" | "newer";
  readonly text: string;
  /** What users can do about the finding. */
  readonly fix?: string;
}

export interface Break extends BreakFinding {
  readonly code: string;
  readonly class: BreakClass;
}

export interface BreakRule {
  readonly code: string;
  /** The name of the rule: `member-renamed`. */
  readonly name: string;
  readonly class: BreakClass;
  find(comparison: StateComparison): readonly BreakFinding[];
}
