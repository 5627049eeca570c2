/** An operating-system process as the backend of a proc. */
import { formatId } from "../../link/address.js";
import { childPipe } from "../../link/transport/unix/connect.js";
import { makeExtent } from "../../shape/extent.js";
import { badOptionCode, describeProcessExit } from "./describe-exit.js";
import { type LaunchedProcess, type LaunchOptions, launchProcess } from "./launch-process.js";
import type { ProcBackend, ProcIdentity } from "./proc-backend.js";
import type { ProcessGuard } from "./process-guard.js";
import type { SpareProcesses } from "./spare-processes.js";

export interface ProcessBackendOptions extends Omit<LaunchOptions, "command"> {
  /** The boot file, or nothing for an executable that contains its program. */
  readonly boot: readonly string[];
  readonly identity: ProcIdentity;
  readonly guard?: ProcessGuard | undefined;
  /** Processes that have been started before. Without one that fits, a process is started. */
  readonly spares: readonly SpareProcesses[];
}

/** Starts an operating-system process for a proc. */
export function processBackend(options: ProcessBackendOptions): ProcBackend {
  const command = [...options.boot, ...formatIdentity(options.identity), options.label];
  const launch = { ...options, command };
  // A guard's mark must be in the environment from the start, and no spare has it.
  const spare = options.guard === undefined ? takeSpare(options.spares, command, launch) : undefined;
  const { pid, socket, exited, outputEnded, ref, kill } = spare ?? launchProcess(launch);
  const guard = pid === undefined ? undefined : options.guard;
  guard?.started(pid!);
  if (guard?.groups !== undefined) options.reaper.removeGroupsAtEnd(guard.groups);
  if (guard?.mark !== undefined) options.reaper.killMarkedAtEnd(guard.mark);
  return {
    pid,
    pipe: childPipe(socket),
    // What Node.js says about its options may arrive after its end.
    exited: exited
      .then((end) => (end.code === badOptionCode ? outputEnded : end))
      .then((end) => describeProcessExit(pid, end, guard?.ended(pid!))),
    outputEnded,
    ref,
    terminate: () => kill("SIGTERM"),
    kill: () => kill("SIGKILL"),
  };
}

function takeSpare(
  spares: readonly SpareProcesses[],
  command: readonly string[],
  launch: LaunchOptions,
): LaunchedProcess | undefined {
  for (const some of spares) {
    const taken = some.take(command, launch);
    if (taken !== undefined) return taken;
  }
  return undefined;
}

/**
 * Returns the first arguments of the boot file. One more argument, the label, is for people who read a list of
 * processes.
 */
export function formatIdentity(identity: ProcIdentity): [string, string] {
  const { universe, id, parent, rank, extent, runDir, launcher, host } = identity;
  const sizes = Object.entries(extent).map(([name, size]) => `${name}=${size}`);
  const hosted = [launcher === undefined ? "" : formatId(launcher), host ?? ""];
  return [
    [formatId(universe), formatId(id), formatId(parent), String(rank), sizes.join(","), ...hosted].join(":"),
    runDir,
  ];
}

/** Parses the arguments that `formatIdentity` wrote. Returns undefined if they are not an identity. */
export function parseIdentity(argument: string | undefined, runDir: string | undefined): ProcIdentity | undefined {
  const match = /^([\da-f]{16}):([\da-f]{16}):([\da-f]{16}):(\d+):([\w=,]*):((?:[\da-f]{16})?):(.*)$/.exec(
    argument ?? "",
  );
  if (match === null || runDir === undefined) return undefined;
  const [, universe, id, parent, rank, sizes = "", launcher, host] = match;
  const entries = sizes === "" ? [] : sizes.split(",").map((size) => size.split("=") as [string, string]);
  return {
    universe: BigInt(`0x${universe}`),
    id: BigInt(`0x${id}`),
    parent: BigInt(`0x${parent}`),
    rank: Number(rank),
    extent: makeExtent(entries.map(([name, size]) => [name, Number(size)])),
    runDir,
    ...(launcher ? { launcher: BigInt(`0x${launcher}`) } : {}),
    ...(host ? { host } : {}),
  };
}
