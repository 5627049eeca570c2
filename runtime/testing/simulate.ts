/**
 * Runs a scenario as the main program of a simulated cluster, from its start to the end of its last process, and checks
 * the invariants of every run.
 */

import { errorMessage } from "../../shared/text/error-message.js";
import type { LinkLimits } from "../link/link-limits.js";
import type { ResumableLimits } from "../link/resumable/limits.js";
import { applyFault } from "./apply-fault.js";
import { checkQueues } from "./check-queues.js";
import type { CausedFault, Fault, FaultOptions } from "./fault.js";
import { defaultLinkLimits, defaultResumableLimits, setMainRoot } from "./kernel.js";
import type { NetworkOptions } from "./network.js";
import { planFaults } from "./plan-faults.js";
import type { NewProcess } from "./references.js";
import type { SimulatedProcess } from "./simulated-process.js";
import { Simulation } from "./simulation.js";
import { SimulationError } from "./simulation-error.js";
import { installVirtualGlobals } from "./virtual-globals.js";
import { World } from "./world.js";

/** The options of {@link simulate}. */
export interface SimulateOptions {
  /** The seed, an integer. Equal seeds give equal runs. Default: 1. */
  readonly seed?: number;
  /** The faults of the run: options for drawing them from the seed, or a list. Default: none. */
  readonly faults?: FaultOptions | readonly Fault[];
  /** The properties of the network. */
  readonly network?: NetworkOptions;
  /**
   * Returns the host on which a new process runs. Default: the host of the process that spawns it. The program runs on
   * `"driver"`.
   */
  readonly place?: (process: NewProcess) => string;
  /** Limits of connections, sessions and broadcast trees that replace the defaults, such as a small credit. */
  readonly limits?: Partial<LinkLimits>;
  /**
   * Limits of connections between hosts, which survive a broken socket, that replace the defaults: for example when
   * bytes are confirmed.
   */
  readonly resumable?: Partial<ResumableLimits>;
  /** The longest duration of the scenario, in milliseconds of virtual time. Default: 3,600,000, which is an hour. */
  readonly limit?: number;
  /** Whether events are kept as lines of text. Default: false, which is faster. */
  readonly record?: boolean;
  /** The numbers of the steps that are left out; see {@link Simulation.step}. */
  readonly without?: ReadonlySet<number>;
}

/** The result of a simulation without an error. */
export interface Run<T> {
  /** The seed of the run. */
  readonly seed: number;
  /** The result of the scenario. */
  readonly value: T;
  /** A hash of all events. Equal runs have equal hashes. */
  readonly hash: string;
  /** The duration in milliseconds of virtual time. */
  readonly ms: number;
  /** The number of times that bytes have arrived at a process. */
  readonly arrivals: number;
  /** The faults that have happened. */
  readonly faults: readonly CausedFault[];
  /** The number of steps of the scenario. */
  readonly steps: number;
  /** The events as text; empty unless the run was recorded. */
  readonly lines: readonly string[];
}

const HOUR_MS = 3_600_000;
/** Time limit in ms for other processes to end after the program. */
const END_LIMIT_MS = 120_000;
/** Time in ms for which the program handles queued messages after the scenario. */
const DRAIN_MS = 5000;

/**
 * Size in bytes of the first page of a write buffer. It is small because thousands of processes write at the same time,
 * each only a little.
 */
const FIRST_PAGE_BYTES = 512;

let isRunning = false;

/**
 * Runs a scenario as the main program of a simulated cluster, in virtual time. Processes, network, clocks and random
 * numbers are simulated; the seed decides everything. A thread runs one simulation at a time.
 *
 * @example
 * ```ts
 * import { thisHost } from "viceroy";
 * import { simulate } from "viceroy/testing";
 *
 * const run = await simulate(
 *   async (simulation) => {
 *     await using procs = thisHost().spawnProcs({ gpus: 2 });
 *     await procs.ready;
 *     return simulation.now;
 *   },
 *   { seed: 7, record: true },
 * );
 * console.log(run.value, run.lines.length);
 * ```
 *
 * @param scenario the main program
 * @param options the seed, faults and limits
 * @returns the result of the scenario, and what happened
 * @throws {SimulationError} as a rejection, when the scenario rejects or exceeds its limit, the program ends before the
 *   scenario, a process outlives the program, a call never ends, a queue exceeds its limits, or nothing happens any
 *   more
 * @throws {RangeError} as a rejection, when the seed is not an integer
 * @throws {Error} as a rejection, when another simulation runs in this thread
 */
export async function simulate<T>(
  scenario: (simulation: Simulation) => Promise<T>,
  options: SimulateOptions = {},
): Promise<Run<T>> {
  const { seed = 1 } = options;
  if (!Number.isSafeInteger(seed)) throw new RangeError(`cannot simulate: expected an integer as seed, got ${seed}`);
  if (isRunning) throw new Error("cannot simulate: another simulation runs in this thread, wait for its end first");
  isRunning = true;
  const before = [{ ...defaultLinkLimits }, { ...defaultResumableLimits }];
  Object.assign(defaultLinkLimits, { firstPage: FIRST_PAGE_BYTES }, options.limits);
  Object.assign(defaultResumableLimits, options.resumable);
  try {
    return await new SimulationRunner(seed, options).run(scenario);
  } finally {
    Object.assign(defaultLinkLimits, before[0]);
    Object.assign(defaultResumableLimits, before[1]);
    isRunning = false;
  }
}

class SimulationRunner {
  readonly #world: World;
  readonly #program: SimulatedProcess;
  readonly #simulation: Simulation;
  readonly #limit: number;
  readonly #plan: readonly Fault[];
  #isEnding = false;
  /** Whether all programs have ended and the host daemons have been told to end. */
  #areDaemonsEnding = false;

  constructor(
    seed: number,
    { faults = [], network = {}, place, limit = HOUR_MS, record = false, without }: SimulateOptions,
  ) {
    this.#world = new World({ seed, recording: record, place, ...network });
    this.#plan = "count" in faults ? planFaults(seed, faults) : faults;
    this.#limit = limit;
    const program = { host: "driver", label: "program", rank: 0, parent: undefined };
    this.#program = this.#world.createProcess(program);
    this.#simulation = new Simulation(this.#world, this.#program, without ?? new Set());
  }

  async run<T>(scenario: (simulation: Simulation) => Promise<T>): Promise<Run<T>> {
    const world = this.#world;
    const restore = installVirtualGlobals(world);
    const mainRoot = setMainRoot(undefined);
    const quiet = captureRejections(world);
    try {
      let value: T | undefined;
      this.#scheduleScenario(scenario, (result) => {
        value = result;
      });
      await world.scheduler.run();
      const { seed, trace, scheduler, arrivalCount } = world;
      const { steps } = this.#simulation;
      const lines = trace.lines ?? [];
      const done = {
        seed,
        hash: trace.hash,
        ms: scheduler.now,
        arrivals: arrivalCount,
        faults: world.faults,
        steps,
        lines,
      };
      return { ...done, value: value as T };
    } catch (error) {
      throw this.#failed(error);
    } finally {
      quiet();
      setMainRoot(mainRoot);
      restore();
    }
  }

  #scheduleScenario<T>(scenario: (simulation: Simulation) => Promise<T>, result: (value: T) => void): void {
    const { scheduler } = this.#world;
    const program = this.#program;
    for (const fault of this.#plan) scheduler.schedule(fault.at, undefined, fault.kind, () => this.#causeFault(fault));
    scheduler.deadline = {
      time: this.#limit,
      why: () => `the scenario has not ended within ${this.#limit} ms`,
    };
    let check = 0;
    scheduler.betweenTasks = () => {
      if (scheduler.tasksDone >= check) {
        checkQueues(this.#world);
        check = scheduler.tasksDone + Math.max(1024, 8 * this.#world.living.size);
      }
      if (program.ended) this.#programEnded();
    };
    scheduler.schedule(0, program, "main", () =>
      program.bootProgram(() => {
        scenario(this.#simulation).then(
          (value) => {
            result(value);
            this.#endProgram();
          },
          (error) => scheduler.stop(error ?? new Error("the scenario threw undefined")),
        );
      }),
    );
  }

  #causeFault(fault: Fault): void {
    if (this.#isEnding) return;
    const world = this.#world;
    const did = applyFault(world, this.#program, fault);
    if (did === undefined) return;
    world.faults.push({ ...fault, did });
    world.trace.note(world.scheduler.now, "fault", fault.kind, 0, () => did);
  }

  /** Ends the program in order after the scenario. */
  #endProgram(): void {
    this.#isEnding = true;
    const program = this.#program;
    const { scheduler } = this.#world;
    scheduler.schedule(scheduler.now, program, "end", () => {
      void program.endProgram(DRAIN_MS).then(() => {
        if (program.openCalls > 0)
          scheduler.stop(new Error(`${program.openCalls} calls of the program have never ended`));
        else program.exit();
      });
    });
    this.#expectEnd();
  }

  #programEnded(): void {
    const { scheduler } = this.#world;
    const { end, printed } = this.#program;
    if (!this.#isEnding && end?.includes("SIGKILL") !== true) {
      scheduler.stop(new Error(`the program has ended before the scenario: ${end}\n${printed}`));
      return;
    }
    const { daemons, living } = this.#world;
    if (living.size === 0) scheduler.stop();
    else if (!this.#isEnding) {
      this.#isEnding = true;
      this.#expectEnd();
    } else if (!this.#areDaemonsEnding && living.size <= daemons.size && [...living].every((one) => daemons.has(one))) {
      this.#areDaemonsEnding = true;
      for (const daemon of living) daemon.terminate();
    }
  }

  /** Sets the deadline by which all processes must have ended after the program. */
  #expectEnd(): void {
    const { scheduler } = this.#world;
    const living = () => [...this.#world.living].map(({ name }) => name);
    scheduler.deadline = {
      time: scheduler.now + END_LIMIT_MS,
      why: () =>
        `${END_LIMIT_MS} ms after the end of the program these processes have not ended: ${living().join(", ")}`,
    };
  }

  #failed(error: unknown): SimulationError {
    const why = errorMessage(error);
    return new SimulationError(this.#world.seed, why, this.#world.faults, this.#world.trace.lines ?? [], error);
  }
}

/** Makes unhandled rejections end the simulated process, not the real one. @returns a function that undoes this */
function captureRejections({ scheduler }: World): () => void {
  const others = process.listeners("unhandledRejection");
  const own = (reason: unknown, promise: Promise<unknown>): void => {
    if (scheduler.current !== undefined) scheduler.current.uncaughtError(reason);
    else for (const other of others) other(reason, promise);
  };
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", own);
  return () => {
    process.off("unhandledRejection", own);
    for (const other of others) process.on("unhandledRejection", other);
  };
}
