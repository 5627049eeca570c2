/** A running simulation as its scenario sees it: what it can look at, and what it can make go wrong. */
import type { Connection } from "./connection.js";
import { type CausedFault, crashHost } from "./faults.js";
import { here } from "./here.js";
import type { SimulatedProcess } from "./process.js";
import { Seeded } from "./seeded.js";
import type { World } from "./world.js";

/** A simulated process. */
export interface ProcessView {
  readonly pid: number;
  readonly host: string;
  /** With its host and its number: `gpus=1@host#3`. */
  readonly name: string;
  readonly ended: boolean;
  /** How it ended, in words. */
  readonly end: string | undefined;
  /** The program whose tree it belongs to; undefined: it is a daemon. */
  readonly program: ProcessView | undefined;
}

export interface HostOptions {
  /** Default: 26600. */
  readonly port?: number;
  /** That drivers must have, too. Default: none. */
  readonly token?: string;
}

/** The port of `viceroy host`. */
const defaultPort = 26_600;
/** How long a program handles what has come when it has nothing more to do, in ms. */
const drain = 5000;

export class Simulation {
  readonly seed: number;
  /** For the scenario: what to do next. Decided by the seed. */
  readonly random: Seeded;
  /** The process that the scenario runs in. */
  readonly program: ProcessView;
  readonly #world: World;
  readonly #skipped: ReadonlySet<number>;
  #steps = 0;

  /** Made by `simulate`. */
  constructor(world: World, program: SimulatedProcess, skipped: ReadonlySet<number>) {
    this.seed = world.seed;
    this.random = new Seeded(world.seed, "scenario");
    this.program = program;
    this.#world = world;
    this.#skipped = skipped;
  }

  /** All processes that there have been, in the order in which they were started. */
  get processes(): readonly ProcessView[] {
    return this.#world.processes;
  }

  /** How many steps the scenario has taken, or would have. */
  get steps(): number {
    return this.#steps;
  }

  /** The faults that have come by themselves so far, with what they did. */
  get faults(): readonly CausedFault[] {
    return this.#world.faults;
  }

  /** Milliseconds of virtual time since the start. */
  get now(): number {
    return this.#world.scheduler.now;
  }

  /** Waits for so many milliseconds of virtual time, as the program that calls it: one that has died does not wake up. */
  sleep(ms: number): Promise<void> {
    const { scheduler } = this.#world;
    const sleeper = here(this.#world) ?? (this.program as SimulatedProcess);
    return new Promise((resolve) => {
      scheduler.at(scheduler.now + ms, sleeper, "sleep", resolve);
    });
  }

  /**
   * Whether a step of the scenario is to be taken: true, unless a run that went wrong is being shortened. What has been
   * drawn for a step that is left out must have been drawn before.
   */
  step(): boolean {
    return !this.#skipped.has(this.#steps++);
  }

  /**
   * Starts `viceroy host` on a host, which comes up again if it had crashed: `attachHosts` finds it at
   * `tcp://<host>:<port>`. It ends with the last program, and at once where another one listens.
   */
  startHost(host: string, { port = defaultPort, token }: HostOptions = {}): ProcessView {
    return this.#world.startDaemon(host, port, token);
  }

  /** Starts another program on a host. When `main` has ended, so does it, in order; what `main` rejects with ends it. */
  startProgram(name: string, host: string, main: () => Promise<void>): ProcessView {
    const world = this.#world;
    const program = world.make({ host, label: name, rank: 0, maker: undefined });
    world.network.down.delete(host);
    const ended = async (): Promise<void> => {
      await program.endProgram(drain);
      program.exit();
    };
    const run = () =>
      void main()
        .then(ended)
        .catch((error) => program.threw(error));
    world.scheduler.at(this.now, program, "main", () => program.bootProgram(run));
    return program;
  }

  /** A line of the trace, for people. */
  note(text: string): void {
    this.#world.trace.note(this.now, "scenario", "notes", 0, () => text);
  }

  /** SIGTERM: a process ends in order. */
  terminate(process: ProcessView): void {
    this.#own(process).terminate();
  }

  /** A process dies at once, as by SIGKILL. */
  crash(process: ProcessView): void {
    this.#own(process).kill();
  }

  /** A host dies with all processes on it. Others hear of it 15 s later; until it is started again, nobody answers there. */
  crashHost(host: string): void {
    crashHost(this.#world, host);
  }

  /** A process does nothing for so many milliseconds, as between SIGSTOP and SIGCONT. */
  pause(process: ProcessView, ms: number): void {
    this.#own(process).busyUntil = this.now + ms;
  }

  /** All processes of a host do nothing for so many milliseconds. */
  pauseHost(host: string, ms: number): void {
    for (const one of this.#world.living) if (one.host === host) one.busyUntil = this.now + ms;
  }

  /** Breaks all connections between two processes; the last of what was on its way may be lost. */
  cut(one: ProcessView, other: ProcessView): void {
    for (const connection of this.#between(one, other)) connection.cut();
  }

  /** Nothing comes through the connections between two processes any more; they hear of it 15 s later. */
  mute(one: ProcessView, other: ProcessView): void {
    for (const connection of this.#between(one, other)) connection.mute();
  }

  /** Bytes from one host do not reach the other for so many milliseconds, nor, unless `oneWay`, back. */
  partition(from: string, to: string, ms: number, { oneWay = false } = {}): void {
    this.#world.network.block(from, to, ms);
    if (!oneWay) this.#world.network.block(to, from, ms);
  }

  /** Everything on the network takes `factor` times longer for so many milliseconds; of several at a time the largest counts. */
  slowDown(factor: number, ms: number): void {
    this.#world.network.slowDown(factor, ms);
  }

  /** The wall clock of a process jumps by so many milliseconds. */
  skew(process: ProcessView, ms: number): void {
    this.#own(process).clock.skew += ms;
  }

  /** The simulation goes no further: a promise has been broken. */
  fail(why: string): void {
    this.#world.scheduler.stop(new Error(why));
  }

  #between(one: ProcessView, other: ProcessView): Connection[] {
    return [...this.#world.network.connections].filter((connection) => {
      const members: readonly unknown[] = connection.members();
      return members.includes(one) && members.includes(other);
    });
  }

  #own(process: ProcessView): SimulatedProcess {
    const own = this.#world.processes[process.pid - 1];
    if (own === process) return own;
    throw new TypeError(`cannot make ${process.name} fail: it is no process of this simulation`);
  }
}
