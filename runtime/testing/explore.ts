/** Runs a scenario with many seeds; of the first one that fails, finds a shorter run that fails too. */
import type { SimulationError } from "./errors.js";
import { type Fault, planFaults } from "./faults.js";
import { type Run, type SimulateOptions, simulate } from "./simulate.js";
import type { Simulation } from "./simulation.js";

export interface ExploreOptions extends Omit<SimulateOptions, "seed" | "record"> {
  readonly seeds: number;
  /** The first seed. Default: 1. */
  readonly from?: number;
  /** What is different for each seed. */
  readonly vary?: (seed: number) => SimulateOptions;
  /** Told of each run that went well. */
  readonly onRun?: (run: Run<unknown>) => void;
}

/** What went wrong, and the shortest run in which something does. */
export interface Finding {
  readonly seed: number;
  /** How many seeds went well before. */
  readonly before: number;
  readonly error: SimulationError;
  /** With which `simulate` fails again, given the same scenario. */
  readonly shortest: Required<Pick<SimulateOptions, "seed" | "faults" | "without">>;
  /** What happened in the shortest run, its end last. */
  readonly lines: readonly string[];
  /** What went wrong in the shortest run. */
  readonly shortestError: SimulationError;
}

type Scenario = (simulation: Simulation) => Promise<unknown>;

/** So many runs are made to find a shorter one. */
const attempts = 200;

/** @returns what was found; undefined if all seeds went well */
export async function explore(scenario: Scenario, options: ExploreOptions): Promise<Finding | undefined> {
  const { seeds, from = 1, onRun, vary = () => ({}), ...common } = options;
  for (let seed = from; seed < from + seeds; seed++) {
    const own = { ...common, ...vary(seed) };
    const outcome = await attempt(scenario, { ...own, seed });
    if (!(outcome instanceof Error)) onRun?.(outcome);
    else return { ...(await shorten(scenario, own, outcome)), seed, before: seed - from, error: outcome };
  }
  return undefined;
}

async function attempt(scenario: Scenario, options: SimulateOptions): Promise<Run<unknown> | SimulationError> {
  try {
    return await simulate(scenario, options);
  } catch (error) {
    return error as SimulationError;
  }
}

async function shorten(
  scenario: Scenario,
  common: SimulateOptions,
  { seed }: SimulationError,
): Promise<Pick<Finding, "shortest" | "lines" | "shortestError">> {
  let left = attempts;
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
    return (await attempt(counted, { ...common, seed, faults, without })) instanceof Error;
  };
  const { faults: planned = [] } = common;
  let faults = "count" in planned ? planFaults(seed, planned) : planned;
  faults = await fewest(faults, (some) => fails(some, new Set()));
  if (steps === 0) await fails(faults, new Set());
  const all = Array.from({ length: steps }, (_, i) => i);
  const without = (kept: readonly number[]) => new Set(all.filter((step) => !kept.includes(step)));
  const kept = await fewest(all, (some) => fails(faults, without(some)));
  const shortest = { seed, faults, without: without(kept) };
  const last = await attempt(scenario, { ...common, ...shortest, record: true });
  if (!(last instanceof Error))
    throw new Error(`seed ${seed} failed once, and does not fail again: it is not simulated alone`);
  return { shortest, lines: last.lines, shortestError: last };
}

/** Delta debugging, without its complements: leaves out ever smaller parts, as long as the rest still fails. */
async function fewest<T>(all: readonly T[], fails: (some: readonly T[]) => Promise<boolean>): Promise<readonly T[]> {
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
