/** A program that the simulator runs with many seeds, with the bugs that can be planted in what it uses. */
import type { SimulateOptions, Simulation } from "../../runtime/testing/index.js";
import type { Plant } from "./plant-bug.js";

export interface PlantedBug<I extends string> {
  readonly name: string;
  /** The replaced method: `Mailbox.add`. */
  readonly replaces: string;
  /** The invariants, one of which must be violated. */
  readonly noticedBy: readonly I[];
  /** A seed that has found the bug. */
  readonly seed: number;
  readonly plant: Plant;
}

export interface Workload<I extends string> {
  readonly scenario: (simulation: Simulation) => Promise<{
    /** The number of messages that actors have handled, or of tasks that have begun. */
    readonly deliveries: number;
  }>;
  readonly optionsOf: (seed: number) => SimulateOptions;
  /** Patterns of the errors that report a violation of each invariant. */
  readonly invariants: Readonly<Record<I, RegExp>>;
  readonly bugs: readonly PlantedBug<I>[];
}

/** Returns the invariants that a run has violated, from the message of its error. */
export function brokenBy<I extends string>({ invariants }: Pick<Workload<I>, "invariants">, message: string): I[] {
  return (Object.keys(invariants) as I[]).filter((name) => invariants[name].test(message));
}
