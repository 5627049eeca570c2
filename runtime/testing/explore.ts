/** Runs a scenario with many seeds. For the first run that fails, it finds a shorter run that fails, too. */

import type { Fault } from "./fault.js";
import { planFaults } from "./plan-faults.js";
import { type Run, type SimulateOptions, simulate } from "./simulate.js";
import type { Simulation } from "./simulation.js";
import type { SimulationError } from "./simulation-error.js";

/** The options of {@link explore}. */
export interface ExploreOptions extends Omit<SimulateOptions, "seed" | "record"> {
  /** The number of seeds to try, from 1. */
  readonly seeds: number;
  /** The first seed, an integer. Default: 1. */
  readonly from?: number;
  /**
   * Returns options that apply to one seed only.
   *
   * @param seed the seed of the run
   */
  readonly vary?: (seed: number) => SimulateOptions;
  /** Called after each run without an error. */
  readonly onRun?: (run: Run<unknown>) => void;
}

/** A run that failed, and the shortest run found that fails, too. */
export interface Finding {
  /** The seed of the run that failed. */
  readonly seed: number;
  /** The number of seeds before it that did not fail. */
  readonly before: number;
  /** The error of the run. */
  readonly error: SimulationError;
  /** The options with which {@link simulate} fails again in the same scenario. */
  readonly shortest: Required<Pick<SimulateOptions, "seed" | "faults" | "without">>;
  /** The events of the shortest run, in order. */
  readonly lines: readonly string[];
  /** The error of the shortest run. */
  readonly shortestError: SimulationError;
}

type Scenario = (simulation: Simulation) => Promise<unknown>;

/** Maximum number of runs for finding a shorter one. */
const MAX_RUNS = 200;

/**
 * Runs a scenario with many seeds. When a run fails, the function looks for a shorter run that fails, too, by leaving
 * out faults and steps: at most 200 further runs.
 *
 * @example
 * ```ts
 * import { thisHost } from "viceroy";
 * import { explore } from "viceroy/testing";
 *
 * const finding = await explore(
 *   async () => {
 *     await using procs = thisHost().spawnProcs({ gpus: 4 });
 *     await procs.ready;
 *   },
 *   { seeds: 100, faults: { count: 3, within: 1_000, kinds: ["pause", "slow"] } },
 * );
 * if (finding !== undefined) console.error(finding.shortestError.message, finding.shortest);
 * ```
 *
 * @param scenario the program of the simulated cluster
 * @param options the seeds, and options of each run
 * @returns the first run that failed; undefined if none has
 */
export async function explore(scenario: Scenario, options: ExploreOptions): Promise<Finding | undefined> {
  const { seeds, from = 1, onRun, vary = () => ({}), ...common } = options;
  for (let seed = from; seed < from + seeds; seed++) {
    const own = { ...common, ...vary(seed) };
    const outcome = await tryRun(scenario, { ...own, seed });
    if (!(outcome instanceof Error)) onRun?.(outcome);
    else return { ...(await shortenRun(scenario, own, outcome)), seed, before: seed - from, error: outcome };
  }
  return undefined;
}

async function tryRun(scenario: Scenario, options: SimulateOptions): Promise<Run<unknown> | SimulationError> {
  try {
    return await simulate(scenario, options);
  } catch (error) {
    return error as SimulationError;
  }
}

async function shortenRun(
  scenario: Scenario,
  common: SimulateOptions,
  { seed }: SimulationError,
): Promise<Pick<Finding, "shortest" | "lines" | "shortestError">> {
  let left = MAX_RUNS;
  let steps = 0;
  const counted: Scenario = async (simulation) => {
    try {
      return await scenario(simulation);
    } finally {
      steps = Math.max(steps, simulation.steps);
    }
  };
  const fails = async (faults: readonly Fault[], without: ReadonlySet<number>): Promise<boolean> => {
    if (left-- <= 0) return false;
    return (await tryRun(counted, { ...common, seed, faults, without })) instanceof Error;
  };
  const { faults: planned = [] } = common;
  let faults = "count" in planned ? planFaults(seed, planned) : planned;
  faults = await minimize(faults, (some) => fails(some, new Set()));
  if (steps === 0) await fails(faults, new Set());
  const all = Array.from({ length: steps }, (_, i) => i);
  const without = (kept: readonly number[]) => new Set(all.filter((step) => !kept.includes(step)));
  const kept = await minimize(all, (some) => fails(faults, without(some)));
  const shortest = { seed, faults, without: without(kept) };
  const last = await tryRun(scenario, { ...common, ...shortest, record: true });
  if (!(last instanceof Error))
    throw new Error(
      `cannot shorten the run of seed ${seed}: it does not fail again, so it depends on more than the seed`,
    );
  return { shortest, lines: last.lines, shortestError: last };
}

/**
 * Returns a small part of a list with which the run still fails: delta debugging without complements. It leaves out
 * ever smaller parts, as long as the rest still fails.
 */
async function minimize<T>(all: readonly T[], fails: (some: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
  let kept = all;
  for (let size = kept.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < kept.length; ) {
      const rest = [...kept.slice(0, at), ...kept.slice(at + size)];
      if (await fails(rest)) kept = rest;
      else at += size;
    }
  }
  return kept;
}
