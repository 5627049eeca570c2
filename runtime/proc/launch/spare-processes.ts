/**
 * Spares: processes that have loaded the runtime and wait for their identity, so that a proc starts sooner. A spare is used for a start
 * with the same options of Node.js and the same environment, and without anything else that must be there from the beginning of a
 * process. It ends with its owner, because it reads from a socket that ends then.
 */
import { readSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../link/clock.js";
import { processStat } from "../../process-table.js";
import { placesVariable } from "../platform/program-places.js";
import { adoptProcess, type LaunchedProcess, type LaunchOptions, startProcess } from "./launch-process.js";

/** The argument of the boot file that makes a process a spare. */
export const SPARE_ARGUMENT = "--spare";

/** The largest number of spares. */
export const MAX_SPARES = 64;

/** The time in ms without the start of a process after which missing spares are replaced, so that they slow down none. */
const REFILL_MS = 1000;

/** The number of spares that may end before they are used. Then there are no more: others would end, too. */
const MAX_FAILURES = 3;

/** What a spare becomes: the arguments of the boot file, the working directory, and the places of the program, if it is elsewhere. */
interface SpareOrder {
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly places: string | undefined;
}

/** The boot file, the options of Node.js and the environment with which spares are started. */
export type SpareTemplate = Pick<LaunchOptions, "execArgv" | "env"> & {
  /** The boot file. */
  readonly boot: string;
};

type Spare = ReturnType<typeof startProcess>;

export class SpareProcesses {
  readonly #clock: Clock;
  readonly #count: number;
  readonly #template: SpareTemplate;
  readonly #waiting: Spare[] = [];
  #failures = 0;
  #refill: Timer | undefined;
  #isClosed = false;

  /** @param count the number of spares that wait */
  constructor(clock: Clock, count: number, template: SpareTemplate) {
    this.#clock = clock;
    this.#count = count;
    this.#template = template;
  }

  /** The ids of the processes that wait. */
  get pids(): number[] {
    return this.#waiting.flatMap(({ pid }) => pid ?? []);
  }

  /** Starts the spares that are missing, when no process has been started for a while. */
  fillLater(): void {
    this.#refill?.cancel();
    this.#refill = this.#clock.after(REFILL_MS, () => {
      this.#refill = undefined;
      this.fill();
    });
  }

  /** Starts the spares that are missing. */
  fill(): void {
    while (!this.#isClosed && this.#waiting.length < this.#count && this.#failures < MAX_FAILURES) this.#add();
  }

  /**
   * Makes a spare into a process, if there is one that fits. The reaper of the options has it from then on.
   * @param boot the boot file and its arguments
   */
  take(boot: readonly string[], options: LaunchOptions): LaunchedProcess | undefined {
    const [file, ...args] = boot;
    const { cwd, env } = options;
    if (this.#refill !== undefined) this.fillLater();
    if (file !== this.#template.boot || !this.#fits(options)) return undefined;
    const spare = this.#next();
    if (spare === undefined) return undefined;
    this.fillLater();
    const launched = adoptProcess(spare, options);
    launched.socket.write(writeOrder({ args, cwd, places: env[placesVariable] }));
    return launched;
  }

  /** Ends all spares. */
  close(): void {
    this.#isClosed = true;
    this.#refill?.cancel();
    for (const { child } of this.#waiting.splice(0)) child?.kill("SIGKILL");
  }

  #fits({ execArgv, env, stdio, cpus, cwd }: LaunchOptions): boolean {
    const template = this.#template;
    return (
      stdio !== "inherit" &&
      cpus === undefined &&
      execArgv.length === template.execArgv.length &&
      execArgv.every((option, i) => option === template.execArgv[i]) &&
      isSameEnvironment(env, template.env) &&
      // A folder that is not there is an error of the start, which the usual way reports.
      (cwd === undefined || statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true)
    );
  }

  /** Returns a spare that lives. One that was killed is noticed here before its end is reported. */
  #next(): Spare | undefined {
    for (;;) {
      const spare = this.#waiting.shift();
      if (spare === undefined || processStat(spare.pid!)?.isEnding !== true) return spare;
      this.#failures++;
    }
  }

  #add(): void {
    const { boot, execArgv, env } = this.#template;
    const spare = startProcess({ command: [boot, SPARE_ARGUMENT], execArgv, env, stdio: "pipe" });
    if (spare.pid === undefined) {
      this.#failures++;
      return;
    }
    // Node.js reads from the streams of a child at once, which would keep this process alive.
    for (const stream of spare.child!.stdio) (stream as Socket | null)?.unref();
    this.#waiting.push(spare);
    spare.child!.once("exit", () => {
      const at = this.#waiting.indexOf(spare);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      this.#failures++;
      this.fillLater();
    });
  }
}

/** Compares all variables except the one that is read when modules are loaded, so that a spare can get it. */
function isSameEnvironment(one: NodeJS.ProcessEnv, other: NodeJS.ProcessEnv): boolean {
  const namesOf = (env: NodeJS.ProcessEnv) => Object.keys(env).filter((name) => name !== placesVariable);
  const names = namesOf(one);
  return names.length === namesOf(other).length && names.every((name) => one[name] === other[name]);
}

/** Encodes an order: its size as u32, and JSON. */
function writeOrder(order: SpareOrder): Uint8Array {
  const text = Buffer.from(JSON.stringify(order));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(text.length);
  return Buffer.concat([size, text]);
}

/**
 * Waits in a spare until it is used, and moves to its working directory. Exits if its owner has ended.
 * @param descriptor the socket to the owner, from which no more is read than the order
 * @returns the arguments of the boot file
 */
export function awaitOrder(descriptor: number): readonly string[] {
  const { args, cwd, places }: SpareOrder = JSON.parse(
    readExactly(descriptor, readExactly(descriptor, 4).readUInt32LE()).toString(),
  );
  if (cwd !== undefined) process.chdir(cwd);
  if (places === undefined) delete process.env[placesVariable];
  else process.env[placesVariable] = places;
  // People who read a list of processes see the label there, as they see it among the arguments of other processes.
  process.title = args.at(-1)!;
  return args;
}

function readExactly(descriptor: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; ) {
    const n = readSync(descriptor, bytes, at, size - at, null);
    if (n === 0) process.exit(0);
    at += n;
  }
  return bytes;
}
