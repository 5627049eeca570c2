/** `Simulation`: a running simulation as its scenario sees it. */

import { crashHost } from "./apply-fault.js";
import type { SimulatedConnection } from "./connection.js";
import { currentProcess } from "./current-process.js";
import type { CausedFault } from "./fault.js";
import type { ProcessView } from "./process-view.js";
import { Seeded } from "./seeded-random.js";
import type { SimulatedProcess } from "./simulated-process.js";
import type { World } from "./world.js";

/** The options of {@link Simulation.startHost}. */
export interface HostOptions {
  /** The port of the daemon, from 1 to 65,535. Default: 26,600. */
  readonly port?: number;
  /** The token that drivers must present. Default: none. */
  readonly token?: string;
}

/** The default port of `viceroy host`. */
const DEFAULT_HOST_PORT = 26_600;
/** Time in ms for which a program without further work handles queued messages. */
const DRAIN_MS = 5000;

/** A running simulation, as its scenario sees it: what the scenario can observe, and the faults that it can cause. */
export class Simulation {
  /** The seed of the run. */
  readonly seed: number;
  /** Random numbers for the scenario, decided by the seed. */
  readonly random: Seeded;
  /** The process that the scenario runs in. */
  readonly program: ProcessView;
  readonly #world: World;
  readonly #skippedSteps: ReadonlySet<number>;
  #stepCount = 0;

  /**
   * Called by `simulate`.
   *
   * @hidden
   */
  constructor(world: World, program: SimulatedProcess, skipped: ReadonlySet<number>) {
    this.seed = world.seed;
    this.random = new Seeded(world.seed, "scenario");
    this.program = program;
    this.#world = world;
    this.#skippedSteps = skipped;
  }

  /** All processes so far, in the order in which they were started. */
  get processes(): readonly ProcessView[] {
    return this.#world.processes;
  }

  /** The number of steps that the scenario has taken or left out. */
  get steps(): number {
    return this.#stepCount;
  }

  /** The faults of the option `faults` that have happened so far. */
  get faults(): readonly CausedFault[] {
    return this.#world.faults;
  }

  /** The time since the start, in milliseconds of virtual time. */
  get now(): number {
    return this.#world.scheduler.now;
  }

  /**
   * Waits as the calling program. The promise never resolves if that program has died.
   *
   * @param ms milliseconds of virtual time, from 0
   */
  sleep(ms: number): Promise<void> {
    const { scheduler } = this.#world;
    const sleeper = currentProcess(this.#world) ?? (this.program as SimulatedProcess);
    return new Promise((resolve) => {
      scheduler.schedule(scheduler.now + ms, sleeper, "sleep", resolve);
    });
  }

  /**
   * Returns whether the scenario takes its next step. The result is true, unless {@link explore} shortens a run. Draw
   * random numbers for a step before calling it, so that a run without the step draws the same numbers.
   */
  step(): boolean {
    return !this.#skippedSteps.has(this.#stepCount++);
  }

  /**
   * Starts `viceroy host` on a host, which starts again if it has crashed. `attachHosts` finds it at
   * `tcp://<host>:<port>`. The daemon ends with the last program, and at once if the port is in use.
   *
   * @param host name of the host
   * @param options port and token
   */
  startHost(host: string, { port = DEFAULT_HOST_PORT, token }: HostOptions = {}): ProcessView {
    return this.#world.startDaemon(host, port, token);
  }

  /**
   * Starts another program on a host. The program ends in order when `main` resolves, and fails when `main` rejects.
   *
   * @param name label of the program
   * @param host name of the host
   * @param main the program
   */
  startProgram(name: string, host: string, main: () => Promise<void>): ProcessView {
    const world = this.#world;
    const program = world.createProcess({ host, label: name, rank: 0, parent: undefined });
    world.network.crashedHosts.delete(host);
    const ended = async (): Promise<void> => {
      await program.endProgram(DRAIN_MS);
      program.exit();
    };
    const run = () =>
      void main()
        .then(ended)
        .catch((error) => program.uncaughtError(error));
    world.scheduler.schedule(this.now, program, "main", () => program.bootProgram(run));
    return program;
  }

  /**
   * Adds a line to the recorded events.
   *
   * @param text the text of the line
   */
  note(text: string): void {
    this.#world.trace.note(this.now, "scenario", "notes", 0, () => text);
  }

  /** Sends SIGTERM to a process, which ends in order. */
  terminate(process: ProcessView): void {
    this.#processOf(process).terminate();
  }

  /** Kills a process at once, as SIGKILL does. */
  crash(process: ProcessView): void {
    this.#processOf(process).kill();
  }

  /**
   * Kills all processes of a host. Other hosts notice 15 seconds later. Until the host is started again, it cannot be
   * reached.
   *
   * @param host name of the host
   */
  crashHost(host: string): void {
    crashHost(this.#world, host);
  }

  /**
   * Stops a process for a while, as SIGSTOP and SIGCONT do.
   *
   * @param ms milliseconds of virtual time, from 0
   */
  pause(process: ProcessView, ms: number): void {
    this.#processOf(process).busyUntil = this.now + ms;
  }

  /**
   * Stops all processes of a host for a while.
   *
   * @param host name of the host
   * @param ms milliseconds of virtual time, from 0
   */
  pauseHost(host: string, ms: number): void {
    for (const one of this.#world.living) if (one.host === host) one.busyUntil = this.now + ms;
  }

  /** Breaks all connections between two processes. The last bytes on their way may be lost. */
  cut(one: ProcessView, other: ProcessView): void {
    for (const connection of this.#between(one, other)) connection.cut();
  }

  /** Lets all connections between two processes deliver nothing any more. Both notice 15 seconds later. */
  mute(one: ProcessView, other: ProcessView): void {
    for (const connection of this.#between(one, other)) connection.mute();
  }

  /**
   * Lets bytes from one host not reach another for a while.
   *
   * @param from name of the host that sends
   * @param to name of the host that receives
   * @param ms milliseconds of virtual time, from 0
   * @param options with `oneWay`, bytes in the other direction arrive; default false
   */
  partition(from: string, to: string, ms: number, { oneWay = false } = {}): void {
    this.#world.network.block(from, to, ms);
    if (!oneWay) this.#world.network.block(to, from, ms);
  }

  /**
   * Slows the network down for a while. Of several factors at a time, the largest counts.
   *
   * @param factor the factor by which bytes take longer, at least 1
   * @param ms milliseconds of virtual time, from 0
   */
  slowDown(factor: number, ms: number): void {
    this.#world.network.slowDown(factor, ms);
  }

  /**
   * Lets the wall clock of a process jump.
   *
   * @param ms milliseconds, negative for a jump into the past
   */
  skew(process: ProcessView, ms: number): void {
    this.#processOf(process).clock.skew += ms;
  }

  /**
   * Ends the simulation with an error.
   *
   * @param why what went wrong
   */
  fail(why: string): void {
    this.#world.scheduler.stop(new Error(why));
  }

  #between(one: ProcessView, other: ProcessView): SimulatedConnection[] {
    return [...this.#world.network.connections].filter((connection) => {
      const members: readonly unknown[] = connection.members();
      return members.includes(one) && members.includes(other);
    });
  }

  #processOf(process: ProcessView): SimulatedProcess {
    const own = this.#world.processes[process.pid - 1];
    if (own === process) return own;
    throw new TypeError(`cannot cause a fault in ${process.name}: it is not a process of this simulation`);
  }
}
