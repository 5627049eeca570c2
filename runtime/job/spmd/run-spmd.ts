/** Starts one process for each rank on the hosts of a job, and starts all of them again by the restart policy. */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "../../../shared/text/error-message.js";
import { RestartTracker } from "../../supervise/restart-policy.js";
import { holding } from "../batch/batch-run.js";
import { filesOfCommand, type MovableCommand, moveCommand } from "../batch/moved-command.js";
import { JobLostError, JobStartError } from "../errors.js";
import type { HostMesh } from "../kernel.js";
import { formatPlace } from "../mesh-spec.js";
import type { SpmdPlan } from "./check-spmd.js";
import { rankPrinter } from "./print-ranks.js";
import { type Meeting, rankEnvironment, type SpmdRank, spmdRanks } from "./rank-environment.js";
import { type RanksFailure, runRanks, type StartedRank } from "./run-ranks.js";
import type { SpmdFailure, SpmdRun } from "./spmd-options.js";

/** The exit code after `kill`, as that of a process that SIGTERM has ended. */
const killedCode = 143;

/** The address at which processes meet that all run on this machine. */
const loopback = "127.0.0.1";

/** @param job the name of the job */
export function runSpmd(job: string, hosts: HostMesh<"hosts">, plan: SpmdPlan): SpmdRun {
  const ending = new AbortController();
  const failures: SpmdFailure[] = [];
  const exited = repeat(job, hosts, plan, failures, ending.signal);
  exited.catch(() => {});
  const kill = async (): Promise<void> => {
    ending.abort();
    await exited.catch(() => {});
  };
  return {
    worldSize: plan.hosts * plan.procs,
    failures,
    exited: () => holding(exited),
    kill,
    [Symbol.asyncDispose]: kill,
  };
}

/** @returns the exit code of all processes together */
async function repeat(
  job: string,
  hosts: HostMesh<"hosts">,
  plan: SpmdPlan,
  failures: SpmdFailure[],
  signal: AbortSignal,
): Promise<number> {
  const restarts = new RestartTracker(plan.restart);
  while (!signal.aborted) {
    const failure = await runOnce(hosts, plan, signal);
    if (signal.aborted) break;
    if (failure === undefined && plan.restart.policy !== "always") return 0;
    if (failure !== undefined) failures.push(shownFailure(failure));
    const pause = pauseAfter(restarts, failure);
    if (pause === undefined) return endCode(job, failure);
    await delay(pause, undefined, { signal }).catch(() => {});
    const missing = await awaitHosts(hosts, plan, signal);
    if (missing !== undefined) return endCode(job, missing);
  }
  return killedCode;
}

/**
 * Waits until hosts that were lost are back, or the signal is aborted.
 * @returns the failure of a host that does not come back; undefined if there is none
 */
async function awaitHosts(
  hosts: HostMesh<"hosts">,
  { mesh, procs, hosts: count }: SpmdPlan,
  signal: AbortSignal,
): Promise<RanksFailure | undefined> {
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  for (let rank = 0; rank < count && !signal.aborted; rank++) {
    try {
      await Promise.race([hosts.commandsAt(rank).comeback, aborted]);
    } catch (error) {
      const host = formatPlace({ mesh, rank });
      return { kind: "lost", rank: rank * procs, host, reason: `${host} is lost: ${errorMessage(error)}` };
    }
  }
  return undefined;
}

async function runOnce(
  hosts: HostMesh<"hosts">,
  plan: SpmdPlan,
  signal: AbortSignal,
): Promise<RanksFailure | undefined> {
  const { mesh } = plan;
  const nameOf = (rank: number) => formatPlace({ mesh, rank });
  let orders: readonly MovableCommand[];
  try {
    orders = await ordersOf(hosts, plan);
  } catch (error) {
    return { kind: "start", rank: 0, host: nameOf(0), reason: errorMessage(error) };
  }
  let meeting: Meeting;
  try {
    meeting = await meetingOf(hosts, plan);
  } catch (error) {
    return { kind: "lost", rank: 0, host: nameOf(0), reason: `${nameOf(0)} is lost: ${errorMessage(error)}` };
  }
  const start = (rank: SpmdRank) => startRank(hosts, { ...plan, ...orders[rank.host]! }, rank, meeting);
  const ranks = spmdRanks(plan.hosts, plan.procs);
  return runRanks({ ranks, start, print: rankPrinter(mesh, plan.stdio), nameOf, signal });
}

/** Brings the program to the hosts that do not have it. @returns the command on each host, with the paths that its files have there */
async function ordersOf(hosts: HostMesh<"hosts">, plan: SpmdPlan): Promise<MovableCommand[]> {
  const files = filesOfCommand(plan);
  const places = await hosts.placesOfProgram(files.length === 0 ? [plan.cwd] : files);
  return places.map((place) => {
    const { command, cwd } = place === undefined ? plan : moveCommand(plan, place);
    return { command, cwd };
  });
}

/** Each start has a port of its own, because that of the last one may not be free yet. */
async function meetingOf(hosts: HostMesh<"hosts">, { env }: SpmdPlan): Promise<Meeting> {
  const first = hosts.commandsAt(0);
  const port = env["MASTER_PORT"] === undefined ? await first.freePort() : Number(env["MASTER_PORT"]);
  return { address: first.address ?? loopback, port };
}

function startRank(hosts: HostMesh<"hosts">, plan: SpmdPlan, rank: SpmdRank, meeting: Meeting): StartedRank {
  const { command, cwd, gpusPerProc, grace } = plan;
  const id = randomBytes(8).readBigUInt64LE();
  const commands = hosts.commandsAt(rank.host);
  const env = rankEnvironment(rank, plan, meeting, plan.env);
  const gpus = gpusPerProc === undefined ? undefined : { first: rank.localRank * gpusPerProc, count: gpusPerProc };
  const order = { command: [...command], cwd, env, id, ...(gpus && { gpus }) };
  const events = commands.start(order, new AbortController().signal);
  return { events, end: () => commands.end(id, grace) };
}

/** @returns the pause in ms before the next start; undefined if there is none */
function pauseAfter(restarts: RestartTracker, failure: RanksFailure | undefined): number | undefined {
  // A program that is not there, or a GPU, does not appear by itself.
  if (failure?.kind === "start") return undefined;
  const cause = { name: "Error", message: failure?.reason ?? "all processes have ended" };
  return restarts.nextDelay(0, { kind: "process", cause, at: new Date() }, performance.now(), failure === undefined);
}

function endCode(job: string, failure: RanksFailure | undefined): number {
  if (failure?.kind === "start") throw new JobStartError(job, failure.reason);
  if (failure?.kind === "lost") throw new JobLostError(job, failure.reason);
  return failure?.exitCode ?? 0;
}

function shownFailure({ rank, host, exitCode, reason }: RanksFailure): SpmdFailure {
  return { rank, host, reason, ...(exitCode !== undefined && { exitCode }) };
}
