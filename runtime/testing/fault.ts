/** The kinds of faults, and faults as plain data. */

import type { ProcessView } from "./process-view.js";

/** All kinds of faults. `FaultKind` describes them. */
export const faultKinds = [
  "crash",
  "crash-host",
  "pause",
  "pause-host",
  "cut",
  "mute",
  "partition",
  "slow",
  "skew",
] as const;
/**
 * The kinds of faults.
 *
 * - `crash`: a process dies at once.
 * - `crash-host`: all processes of a host die, and other hosts notice 15 seconds later.
 * - `pause`: a process does nothing for a while.
 * - `pause-host`: all processes of a host do nothing for a while.
 * - `cut`: a connection between two hosts breaks, and bytes on their way may be lost.
 * - `mute`: a connection between two hosts delivers nothing, and both notice 15 seconds later.
 * - `partition`: two hosts do not reach each other, in one or both directions, for a while.
 * - `slow`: everything on the network takes 20 times longer for a while.
 * - `skew`: the wall clock of a process jumps.
 */
export type FaultKind = (typeof faultKinds)[number];

/** The options for drawing faults from the seed. */
export interface FaultOptions {
  /** The number of faults, from 0. */
  readonly count: number;
  /** The time from the start in which the faults happen, in milliseconds of virtual time. */
  readonly within: number;
  /**
   * The kinds to draw from. A kind that is listed twice is drawn twice as often. Default: all but `crash-host`,
   * `pause-host` and `mute`.
   */
  readonly kinds?: readonly FaultKind[];
  /** The longest duration of a fault, in milliseconds of virtual time. Default: 3,000. */
  readonly longest?: number;
  /**
   * Returns whether the faults may affect a process. A fault of a host affects hosts on which they may affect all
   * processes, and a fault of a connection or a partition those at one of whose ends they may. The kind `slow` affects
   * everything, so it is not drawn then. Default: all processes but the program.
   *
   * @example
   * ```ts
   * import type { FaultOptions } from "viceroy/testing";
   *
   * const faults: FaultOptions = { count: 2, within: 500, processes: ({ host }) => host === "host1" };
   * ```
   *
   * @param process a process that exists when the fault happens
   */
  readonly processes?: (process: ProcessView) => boolean;
}

/** A planned fault. */
export interface Fault {
  /** The time from the start, in milliseconds of virtual time. */
  readonly at: number;
  /** The kind of fault. */
  readonly kind: FaultKind;
  /**
   * Selects the process, host or connection among those that exist at that time: a number from 0 up to, but not
   * including, 1.
   */
  readonly which: number;
  /** Selects a second one where the fault needs it, or a direction: a number from 0 up to, but not including, 1. */
  readonly other: number;
  /** The duration in milliseconds of virtual time. */
  readonly ms: number;
  /** Returns whether the fault may affect a process, as in {@link FaultOptions}. Default: all but the program. */
  readonly processes?: (process: ProcessView) => boolean;
}

/** A fault that has happened. */
export interface CausedFault extends Fault {
  /** A description of the effect, for people. */
  readonly did: string;
}
