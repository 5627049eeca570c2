/** What `spawnProcs` can be told, checked before anything is started. */
import { isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { checkCpuAffinity, checkCpuList } from "../../proc/launch/launch-process.js";
import type { Stdio } from "../../proc/launch/stdio.js";
import { checkOptionNames, describeValue, type Point } from "../../shape/index.js";
import { planRestart, type RestartOptions, type RestartPlan } from "../../supervise/restart-policy.js";
import type { AttachedHost } from "../attached/attached-host.js";

/** What a proc runs in. */
export type Isolation = "process" | "thread" | "inline";

export type Env = Readonly<Record<string, string | undefined>>;

export interface SpawnProcsOptions<D extends string = string> {
  /** In reports, and in front of output. */
  readonly name?: string;
  readonly isolation?: Isolation;
  /** On top of this process's environment; undefined removes a variable. */
  readonly env?: Env | ((point: Point<D>) => Env);
  /**
   * A module to load before any actor, as a URL or an absolute path. A function that it exports as default is called
   * with the process's point and awaited.
   */
  readonly bootstrap?: URL | string;
  /**
   * The generated registry that these processes take their actors from, as a URL or an absolute path, instead of this
   * process's own: that of another build of the package. A function gets each process's point.
   */
  readonly registry?: URL | string | ((point: Point<D>) => URL | string | undefined);
  /** Processors as `taskset -c` takes them: for each process in rank order, or by point. */
  readonly cpus?: readonly string[] | ((point: Point<D>) => string);
  readonly stdio?: Stdio;
  /** Options of Node.js, instead of those that are inherited. */
  readonly execArgv?: readonly string[];
  /** What becomes of processes that end, and of actors on them that fail unless `with` says otherwise. */
  readonly restart?: RestartOptions;
}

/** What `replace` can be told: where the new processes differ from those that were spawned. Points are those of then. */
export interface ReplaceOptions extends Pick<SpawnProcsOptions, "registry" | "bootstrap" | "env" | "execArgv"> {
  /** Milliseconds in which old processes still handle what they have been sent. */
  readonly drain?: number;
}

/** Options with everything decided that does not depend on the rank. */
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
  /** Where the proc of a rank is started; undefined: on this machine. */
  readonly host: (rank: number) => AttachedHost | undefined;
  readonly restart: RestartPlan | undefined;
}

/** Names of what `replace` can change. */
export const replaceableOptions: readonly Exclude<keyof ReplaceOptions, "drain">[] = [
  "registry",
  "bootstrap",
  "env",
  "execArgv",
];

const optionNames: readonly (keyof SpawnProcsOptions)[] = [
  "name",
  "isolation",
  "cpus",
  "stdio",
  "restart",
  ...replaceableOptions,
];

const isolations = ["process", "thread", "inline"];

/** What a thread, and what the own event loop, can't have. */
const unsupportedOptions: Readonly<Record<Isolation, readonly (keyof SpawnProcsOptions)[]>> = {
  process: [],
  thread: ["cpus", "execArgv"],
  inline: ["env", "cpus", "stdio", "execArgv", "registry"],
};

/**
 * @param size the number of procs of each host
 * @param hosts in rank order; undefined: this machine alone
 * @throws TypeError if an option is malformed, or is one that the isolation can't have
 */
export function planProcs<D extends string>(
  options: SpawnProcsOptions<D>,
  size: number,
  hosts: readonly AttachedHost[] | undefined,
): ProcsPlan<D> {
  checkOptionNames("cannot spawn procs", options, optionNames);
  const { name = "procs", isolation = "process", env = {}, cpus, stdio = "prefix", execArgv } = options;
  if (typeof name !== "string" || name === "") throw optionError("a name", name);
  if (!isolations.includes(isolation)) throw optionError('isolation "process", "thread" or "inline"', isolation);
  if (isolation === "process" && hosts === undefined && process.platform === "win32") {
    throw new Error('cannot spawn procs: isolation "process" needs Linux or macOS; use "thread", got win32');
  }
  if (hosts !== undefined && isolation !== "process") {
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
  return {
    name,
    isNamed: options.name !== undefined,
    isolation,
    env: typeof env === "function" ? env : () => env,
    bootstrap: options.bootstrap === undefined ? undefined : moduleUrl(options.bootstrap, "bootstrap"),
    registry: planRegistry(options.registry),
    cpus: planCpus(cpus, size, hosts === undefined ? checkCpuAffinity : checkCpuList),
    stdio,
    execArgv,
    host: (rank) => hosts?.[Math.floor(rank / size)],
    restart: options.restart === undefined ? undefined : planRestart(options.restart, "spawn procs"),
  };
}

function planCpus<D extends string>(
  cpus: SpawnProcsOptions<D>["cpus"],
  size: number,
  check: (list: string) => void,
): ProcsPlan<D>["cpus"] {
  if (cpus === undefined) return () => undefined;
  if (typeof cpus === "function") return cpus;
  if (!Array.isArray(cpus) || cpus.length !== size) {
    const got = Array.isArray(cpus) ? `${cpus.length} entries` : describeValue(cpus);
    throw new TypeError(`cannot spawn procs: expected cpus for each of ${size} processes, got ${got}`);
  }
  for (const list of cpus as readonly string[]) check(list);
  return (point) => (cpus as readonly string[])[point.rank % size];
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

/** @param verb what is refused otherwise. @throws TypeError unless it is a URL or an absolute path */
export function moduleUrl(module: URL | string, option: string, verb = "spawn procs"): string {
  if (module instanceof URL) return module.href;
  if (typeof module === "string" && module.startsWith("file:")) return module;
  if (typeof module === "string" && isAbsolute(module)) return pathToFileURL(module).href;
  throw optionError(`a URL or an absolute path as ${option}`, module, verb);
}

function optionError(expected: string, got: unknown, verb = "spawn procs"): TypeError {
  return new TypeError(`cannot ${verb}: expected ${expected}, got ${describeValue(got)}`);
}
