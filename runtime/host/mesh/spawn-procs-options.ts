/** The options of `spawnProcs` and `ProcMesh.replace`, and their checks before anything is started. */

import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { describeValue } from "../../../shared/text/describe-value.js";
import { type InspectedPort, type InspectOptions, planInspect } from "../../proc/launch/inspector.js";
import { checkCpuAffinity, checkCpuList } from "../../proc/launch/launch-process.js";
import { type ProcessGuard, processGuard } from "../../proc/launch/process-guard.js";
import { MAX_SPARES } from "../../proc/launch/spare-processes.js";
import type { Stdio } from "../../proc/launch/stdio.js";
import { checkOptionNames, type Point } from "../../shape/index.js";
import { planRestart, type RestartOptions, type RestartPlan } from "../../supervise/restart-policy.js";
import type { AttachedHost } from "../attached/attached-host.js";
import type { MeshCode } from "../attached/hosts-code.js";
import type { ProcsLayout } from "./procs-layout.js";

/**
 * The place where a proc runs: in a process of its own, in a worker thread of this process, or on the event loop of
 * this process.
 */
export type Isolation = "process" | "thread" | "inline";

/** Environment variables. The value undefined removes a variable. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The options of `HostMesh.spawnProcs`. */
export interface SpawnProcsOptions<D extends string = string> {
  /** The name of the mesh in reports, and the prefix of the output of a mesh without dimensions. Default: `"procs"`. */
  readonly name?: string;
  /** The place where the procs run. Attached hosts support `"process"` only. Default: `"process"`. */
  readonly isolation?: Isolation;
  /**
   * Environment variables that are added to those of this process, for all procs or for each position. Not supported by
   * the isolation `"inline"`.
   */
  readonly env?: Env | ((point: Point<D>) => Env);
  /**
   * A module that each proc loads before any actor, as a URL or an absolute path. If it exports a default function, the
   * proc calls that function with its position and awaits the result.
   */
  readonly bootstrap?: URL | string;
  /**
   * The generated registry that the procs load actors from, as a URL or an absolute path, for all procs or for each
   * position. Use it to run another build of the package. Default: the registry of this process. Not supported by the
   * isolation `"inline"`.
   */
  readonly registry?: URL | string | ((point: Point<D>) => URL | string | undefined);
  /**
   * The processors of each proc, in the syntax of `taskset -c`: one entry for each proc of a host in rank order, or a
   * function of the position. Procs that join by `ProcMesh.resize` take the next entries of a longer list. Supported by the
   * isolation `"process"` only.
   */
  readonly cpus?: readonly string[] | ((point: Point<D>) => string);
  /** The destination of the output of the procs. Default: `"prefix"`. Not supported by the isolation `"inline"`. */
  readonly stdio?: Stdio;
  /**
   * The options of Node.js. Default: those of this process, without `--test*`, `--inspect*`, `--watch*` and `-e`.
   * Supported by the isolation `"process"` only.
   */
  readonly execArgv?: readonly string[];
  /**
   * Whether a debugger can attach to the processes: `true` for free ports, or options. Each process prints its address.
   * Supported by the isolation `"process"` only. Default: false.
   *
   * @example
   * ```ts
   * import { thisHost } from "viceroy";
   *
   * // Ranks 0 to 3 listen at the ports 9300 to 9303, and wait for a debugger before they load the program's modules.
   * const procs = thisHost().spawnProcs({ gpus: 4 }, { inspect: { port: 9300, break: true } });
   * ```
   */
  readonly inspect?: boolean | InspectOptions;
  /**
   * Whether processes that end are started again. It also holds for actors on them that fail, unless `ProcMesh.with`
   * sets another policy. Default: never.
   */
  readonly restart?: RestartOptions;
  /**
   * The number of processes that wait, with the runtime loaded, to become processes of this mesh after a failure or of a later mesh with the
   * same environment and options, from 0 to 64. Each takes about 20 MB, and they end with the mesh. They are not used for processes with `cpus`
   * or `inspect`. Supported by the isolation `"process"` on this machine only. Default: 1 as soon as an actor or
   * process of the mesh has a restart policy, otherwise 0.
   */
  readonly spares?: number;
  /**
   * The guard that watches the processes on this machine.
   *
   * @internal
   */
  readonly [processGuard]?: ProcessGuard;
}

/**
 * The options of `ProcMesh.replace`: how the new processes differ from the old ones. Functions receive positions in the
 * mesh that was spawned.
 */
export interface ReplaceOptions extends Pick<SpawnProcsOptions, "registry" | "bootstrap" | "env" | "execArgv"> {
  /**
   * The time in which an old process still handles messages that it has been sent, in milliseconds, from 0 to 2^32 - 1.
   * Default: 5,000.
   */
  readonly drain?: number;
}

/** The checked options. Everything that does not depend on the rank has been resolved. */
export interface ProcsPlan<D extends string = string> {
  readonly name: string;
  readonly isNamed: boolean;
  readonly isolation: Isolation;
  readonly env: (point: Point<D>) => Env;
  readonly bootstrap: string | undefined;
  readonly registry: (point: Point<D>) => string | undefined;
  readonly cpus: (point: Point<D>) => string | undefined;
  readonly stdio: Stdio;
  readonly execArgv: readonly string[] | undefined;
  /** Returns the debugger of the process with a number. */
  readonly inspect: (number: number) => InspectedPort | undefined;
  /** Returns the host on which the proc of a rank is started; undefined for this machine. */
  readonly host: (rank: number) => AttachedHost | undefined;
  readonly restart: RestartPlan | undefined;
  readonly guard: ProcessGuard | undefined;
  /** The number of spares on this machine; undefined for one if something is restarted after failures. */
  readonly spares: number | undefined;
  /** Whether processes of the mesh can be those that were spares. */
  readonly usesSpares: boolean;
  /** The code that the processes on attached hosts run. */
  readonly code: MeshCode | undefined;
}

/** The names of the options that `replace` can change. */
export const replaceableOptions: readonly Exclude<keyof ReplaceOptions, "drain">[] = [
  "registry",
  "bootstrap",
  "env",
  "execArgv",
];

type OptionName = keyof SpawnProcsOptions & string;

const optionNames: readonly OptionName[] = [
  "name",
  "isolation",
  "cpus",
  "stdio",
  "inspect",
  "restart",
  "spares",
  ...replaceableOptions,
];

const isolations = ["process", "thread", "inline"];

/** Options that an isolation does not support. */
const unsupportedOptions: Readonly<Record<Isolation, readonly OptionName[]>> = {
  process: [],
  thread: ["cpus", "execArgv", "inspect", "spares"],
  inline: ["env", "cpus", "stdio", "execArgv", "inspect", "registry", "spares"],
};

/** @throws TypeError if the options are no object, or have an unknown name */
export function checkProcsOptions(options: unknown): void {
  checkOptionNames("cannot spawn procs", options, optionNames);
}

/**
 * @param layout the hosts of the procs
 * @param code the code of processes on attached hosts
 * @throws TypeError if an option is malformed, or the isolation does not support it; Error if the isolation or `cpus`
 * does not work on this system
 */
export function planProcs<D extends string>(
  options: SpawnProcsOptions<D>,
  { size, entries, entryOf, hostOf, isAttached }: ProcsLayout,
  code: MeshCode | undefined,
): ProcsPlan<D> {
  checkProcsOptions(options);
  const { name = "procs", isolation = "process", env = {}, cpus, stdio = "prefix", execArgv } = options;
  if (typeof name !== "string" || name === "") throw optionError("a name", name);
  if (!isolations.includes(isolation)) throw optionError('isolation "process", "thread" or "inline"', isolation);
  if (isolation === "process" && !isAttached && process.platform === "win32") {
    throw new Error('cannot spawn procs: isolation "process" needs Linux or macOS; use "thread", got win32');
  }
  if (isAttached && isolation !== "process") {
    throw new TypeError(
      `cannot spawn procs: on attached hosts isolation is "process", got ${describeValue(isolation)}`,
    );
  }
  for (const option of unsupportedOptions[isolation]) {
    if (options[option] !== undefined) {
      throw new TypeError(
        `cannot spawn procs: isolation "${isolation}" has no ${option}, got ${describeValue(options[option])}`,
      );
    }
  }
  if (!["prefix", "inherit", "ignore"].includes(stdio as string) && typeof stdio !== "function") {
    throw optionError('stdio "prefix", "inherit", "ignore" or a function', stdio);
  }
  checkSpares(options.spares, isAttached);
  return {
    name,
    isNamed: options.name !== undefined,
    isolation,
    env: typeof env === "function" ? env : () => env,
    bootstrap: options.bootstrap === undefined ? undefined : moduleUrl(options.bootstrap, "bootstrap"),
    registry: planRegistry(options.registry),
    cpus: planCpus(cpus, entries, entryOf, isAttached ? checkCpuList : checkCpuAffinity),
    stdio,
    execArgv,
    inspect: planInspect(options.inspect, size, execArgv),
    host: hostOf,
    restart: options.restart === undefined ? undefined : planRestart(options.restart, "spawn procs"),
    guard: options[processGuard],
    spares: options.spares,
    usesSpares: isolation === "process" && !isAttached && cpus === undefined && !options.inspect,
    code,
  };
}

/** @throws TypeError if the number of spares is malformed, or the hosts are attached, whose daemons keep spares */
function checkSpares(spares: number | undefined, isAttached: boolean): void {
  if (spares === undefined) return;
  if (!Number.isInteger(spares) || spares < 0 || spares > MAX_SPARES) {
    throw optionError(`spares as an integer from 0 to ${MAX_SPARES}`, spares);
  }
  if (isAttached) {
    throw new TypeError(
      `cannot spawn procs: spares of attached hosts are those of their daemons (viceroy host --spares), got ${spares}`,
    );
  }
}

function planCpus<D extends string>(
  cpus: SpawnProcsOptions<D>["cpus"],
  entries: number,
  entryOf: (rank: number) => number,
  check: (list: string) => void,
): ProcsPlan<D>["cpus"] {
  if (cpus === undefined) return () => undefined;
  if (typeof cpus === "function") return cpus;
  if (!Array.isArray(cpus) || cpus.length < entries) {
    const got = Array.isArray(cpus) ? `${cpus.length} entries` : describeValue(cpus);
    throw new TypeError(`cannot spawn procs: expected cpus for each of ${entries} processes, got ${got}`);
  }
  for (const list of cpus as readonly string[]) check(list);
  return (point) => (cpus as readonly string[])[entryOf(point.rank)];
}

/** @throws Error if `cpus` is a list that is too short for the layout that a mesh gets. @param failed the start of the message */
export function checkListedCpus(cpus: unknown, { entries }: ProcsLayout, failed: string): void {
  if (!Array.isArray(cpus) || cpus.length >= entries) return;
  throw new Error(
    `${failed}: expected an entry of its option cpus for each of ${entries} processes, got a list of ${cpus.length}; ` +
      "spawn it with a longer list, or a function",
  );
}

function planRegistry<D extends string>(registry: SpawnProcsOptions<D>["registry"]): ProcsPlan<D>["registry"] {
  if (typeof registry === "function") {
    return (point) => {
      const place = registry(point);
      return place === undefined ? undefined : moduleUrl(place, "registry");
    };
  }
  const url = registry === undefined ? undefined : moduleUrl(registry, "registry");
  return () => url;
}

/** @param verb the action that the error names. @throws TypeError unless the module is a URL or an absolute path */
export function moduleUrl(module: URL | string, option: string, verb = "spawn procs"): string {
  if (module instanceof URL) return module.href;
  if (typeof module === "string" && module.startsWith("file:")) return module;
  if (typeof module === "string" && isAbsolute(module)) return pathToFileURL(module).href;
  throw optionError(`a URL or an absolute path as ${option}`, module, verb);
}

function optionError(expected: string, got: unknown, verb = "spawn procs"): TypeError {
  return new TypeError(`cannot ${verb}: expected ${expected}, got ${describeValue(got)}`);
}
