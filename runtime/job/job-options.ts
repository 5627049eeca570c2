/** The options that all jobs have, and their checks. */
import { checkOptionNames } from "../shape/check-options.js";
import { optionError } from "./check-option.js";
import { type Duration, durationMs } from "./duration.js";
import type { SyncOptions } from "./kernel.js";

/** The options of all jobs. */
export interface JobOptions {
  /** The name in messages and in the lists of schedulers. Default: `"viceroy"`. */
  readonly name?: string;
  /**
   * The file that records what was submitted, so that the next run of the program uses the same hosts. Null: nothing is
   * recorded, and everything ends with the driver. Default: `.viceroy/job_state.json` in the working directory.
   */
  readonly cache?: string | null;
  /** The time for which hosts stay without a driver, if there is a cache. Default: `"1h"`. */
  readonly idle?: Duration;
  /**
   * The time in which all hosts must be up once the job runs, and in which a host that was lost must be up again: `start` and `lost`
   * set the two apart. With 0, or with 0 for `lost`, lost hosts are not replaced, and nobody waits for them. Default: `"2m"`.
   */
  readonly hostTimeout?: Duration | { readonly start?: Duration; readonly lost?: Duration };
  /** How the driver connects to the hosts: see the options of `attachHosts`. */
  readonly attach?: JobAttachOptions;
  /** Lines of the shell that run on each host before Viceroy, such as `module load nodejs`. */
  readonly setup?: string;
  /** The path of Node.js on the hosts. Default: that of the driver, or `node` on other machines. */
  readonly node?: string;
  /**
   * Whether connections between machines use TLS, with certificates that the job makes, and the lifetime of these: they
   * are renewed at half of it, and clocks may differ by as much. False: connections are not encrypted, which the job says
   * on standard error. A `ProcessJob` has no such connections. Default: true, with a lifetime of `"24h"`.
   */
  readonly tls?: boolean | { readonly lifetime?: Duration };
  /**
   * Whether the code of the program is brought to the hosts before the first processes are spawned there, and how: see the options
   * of `HostMesh.sync`. Hosts that see the program's files on a shared file system keep to those. Default: true.
   */
  readonly sync?: boolean | JobSyncOptions;
  /**
   * How a waiting user is told about the job on standard error: `"auto"` is one line that changes on a terminal, and
   * lines elsewhere. Default: `"auto"`.
   */
  readonly progress?: "auto" | "silent";
}

/** The options by which the code of a program is brought to the hosts of its job. */
export type JobSyncOptions = Omit<SyncOptions, "onProgress">;

/** How the driver connects to hosts. */
export interface JobAttachOptions {
  /** The time in which a host must accept the driver, in milliseconds. Default: 10,000. */
  readonly timeout?: number;
  /** The time after which a host that does not answer counts as gone, in milliseconds. Default: 2,500. */
  readonly silence?: number;
  /** The time after which a host ends the processes of a driver that it does not hear, in milliseconds. Default: 10,000. */
  readonly keepAlive?: number;
}

/** The options after their check, with defaults. */
export interface CheckedOptions {
  readonly name: string;
  readonly cache: string | null;
  readonly idle: number;
  /** The time in ms in which all hosts must be up. */
  readonly hostTimeout: number;
  /** The time in ms in which a lost host must be up again; 0 if it is not replaced. */
  readonly lostTimeout: number;
  readonly attach: JobAttachOptions;
  readonly setup: string | null;
  readonly node: string | null;
  readonly tls: TlsSpec | null;
  readonly sync: JobSyncOptions | null;
  readonly progress: "auto" | "silent";
}

/** How the certificates of a job are made. */
export type TlsSpec = {
  /** The lifetime of certificates, in ms. */
  readonly lifetime: number;
};

const optionNames: readonly string[] = [
  "name",
  "cache",
  "idle",
  "hostTimeout",
  "attach",
  "setup",
  "node",
  "tls",
  "sync",
  "progress",
] satisfies readonly (keyof JobOptions)[];

/** The cache of jobs that name no other file. */
export const defaultCache = ".viceroy/job_state.json";

/**
 * Checks the options of a job.
 * @param own the options that the provider has in addition
 * @throws {TypeError} when an option is unknown or malformed
 */
export function checkJobOptions(options: unknown, own: readonly string[]): CheckedOptions {
  checkOptionNames("cannot make a job", options, [...own, ...optionNames]);
  const { name = "viceroy", cache = defaultCache, idle = "1h" } = options as JobOptions;
  const { attach = {}, setup, node, progress = "auto" } = options as JobOptions;
  if (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name)) {
    throw optionError("name as 1 to 64 letters, digits, and . _ -", name);
  }
  if (cache !== null && (typeof cache !== "string" || cache === ""))
    throw optionError("cache as a path or null", cache);
  checkOptionNames("cannot make a job with attach", attach, ["timeout", "silence", "keepAlive"]);
  for (const [option, value] of Object.entries({ setup, node })) {
    if (value !== undefined && (typeof value !== "string" || value === ""))
      throw optionError(`${option} as text`, value);
  }
  if (progress !== "auto" && progress !== "silent") throw optionError('progress as "auto" or "silent"', progress);
  return {
    name,
    cache,
    idle: durationMs(idle, "idle"),
    ...checkHostTimeout((options as JobOptions).hostTimeout),
    attach,
    setup: setup ?? null,
    node: node ?? null,
    tls: checkTls((options as JobOptions).tls),
    sync: checkSync((options as JobOptions).sync),
    progress,
  };
}

/** The names of the options of a job about the code that is brought to its hosts. The sync checks their values. */
const syncNames = [
  "roots",
  "exclude",
  "include",
  "packages",
  "largeRoots",
  "limits",
  "quota",
] satisfies readonly (keyof JobSyncOptions)[];

function checkSync(sync: JobOptions["sync"] = true): JobSyncOptions | null {
  if (typeof sync === "boolean") return sync ? {} : null;
  if (typeof sync !== "object" || sync === null) throw optionError("sync as true, false or options", sync);
  checkOptionNames("cannot make a job with sync", sync, syncNames);
  return sync;
}

const defaultHostTimeout = "2m";

function checkHostTimeout(
  given: JobOptions["hostTimeout"] = defaultHostTimeout,
): Pick<CheckedOptions, "hostTimeout" | "lostTimeout"> {
  if (typeof given !== "object" || given === null) {
    const limit = durationMs(given, "hostTimeout");
    // Nothing starts in no time.
    return { hostTimeout: limit === 0 ? durationMs(defaultHostTimeout, "hostTimeout") : limit, lostTimeout: limit };
  }
  checkOptionNames("cannot make a job with hostTimeout", given, ["start", "lost"]);
  const { start = defaultHostTimeout, lost = defaultHostTimeout } = given;
  return {
    hostTimeout: durationMs(start, "start of hostTimeout"),
    lostTimeout: durationMs(lost, "lost of hostTimeout"),
  };
}

/** The bounds of the lifetime of certificates, in ms. */
const shortestLifetime = 5000;
const longestLifetime = 365 * 86_400_000;

function checkTls(tls: JobOptions["tls"] = true): TlsSpec | null {
  if (tls === false) return null;
  if (tls !== true && (typeof tls !== "object" || tls === null)) {
    throw optionError("tls as true, false or { lifetime }", tls);
  }
  const given = tls === true ? {} : tls;
  checkOptionNames("cannot make a job with tls", given, ["lifetime"]);
  const lifetime = durationMs(given.lifetime ?? "24h", "lifetime of tls");
  if (lifetime >= shortestLifetime && lifetime <= longestLifetime) return { lifetime };
  throw new RangeError(`cannot make a job: expected lifetime of tls from 5 s to 365 days, got ${lifetime} ms`);
}
