/** The daemon of a machine, as the program that has started it, or a later one, finds it. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { processStat, readProcessFile } from "../../../process-table.js";
import { endMarkedProcesses, hostVariable, markVariable } from "../../keeper/marked-processes.js";
import type { HostPlace } from "../../mesh-spec.js";
import { type Announcement, formatAnnouncement, readHostLine } from "./host-lines.js";
import type { MachineOrder } from "./machine-order.js";

/** The name of the file with the last announcement, in the folder of the run. */
const stateName = "host";
const logName = "host.log";

/** Time in ms between two looks whether a daemon runs. */
const lookMs = 500;

/**
 * Starts its arguments after the first one in the background, and prints the number of the process. The daemon has no parent of SkyPilot's: SkyPilot
 * ends all descendants of its job when any machine of the cluster fails, and the hosts on the other machines go on.
 */
const detached = `log=$1; shift; "$@" < /dev/null > "$log" 2>&1 & echo $!`;

export interface RunningHost {
  readonly announcement: Announcement;
  /** The file with what it prints. */
  readonly log: string;
  /** Resolves when the daemon has ended. */
  readonly ended: Promise<void>;
}

/** The record of the last daemon of a run on this machine. */
interface LastHost {
  readonly announcement: Announcement;
  readonly pid: number;
}

/**
 * Returns the daemon of a run that runs on this machine; undefined if there is none. What is left of one that has ended, or that drivers have
 * replaced, is ended.
 * @param folder that of the run
 */
export async function findHost(
  folder: string,
  { applyId, replaced }: Pick<MachineOrder, "applyId" | "replaced">,
): Promise<RunningHost | undefined> {
  const last = readLast(folder);
  if (last === undefined || last.announcement.applyId !== applyId) return undefined;
  const { announcement, pid } = last;
  const { boot } = announcement;
  if (runs(pid, boot) && !replaced.includes(boot)) return hostOf(folder, announcement, pid);
  await endMarkedProcesses(boot, hostVariable);
  return undefined;
}

/** Starts the daemon of a place. @param program the file of the program of this machine */
export async function startHost(
  folder: string,
  { applyId, launch, port }: MachineOrder,
  { mesh, rank }: HostPlace,
  ip: string,
  program: string,
): Promise<RunningHost> {
  const boot = randomBytes(16).toString("hex");
  const announcement: Announcement = { applyId, mesh, rank, boot, incarnation: launch, ip, port };
  const env = {
    ...process.env,
    [markVariable]: applyId,
    [hostVariable]: boot,
    VICEROY_JOB_MESH: mesh,
    VICEROY_JOB_RANK: String(rank),
  };
  const command = [join(folder, logName), process.execPath, program, "host", ip];
  const shell = spawn("/bin/sh", ["-c", `umask 077; ${detached}`, "sh", ...command], {
    cwd: process.env["HOME"],
    env,
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const pid = Number((await text(shell.stdout)).trim());
  const file = join(folder, stateName);
  writeFileSync(`${file}.new`, `${formatAnnouncement(announcement)}\n${pid}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return hostOf(folder, announcement, pid);
}

function readLast(folder: string): LastHost | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(folder, stateName), "utf8").split("\n");
  } catch {
    return undefined;
  }
  const read = readHostLine(lines[0]!);
  return "announcement" in read ? { announcement: read.announcement, pid: Number(lines[1]) } : undefined;
}

function hostOf(folder: string, announcement: Announcement, pid: number): RunningHost {
  return { announcement, log: join(folder, logName), ended: untilEnd(pid, announcement.boot) };
}

async function untilEnd(pid: number, boot: string): Promise<void> {
  while (runs(pid, boot)) await pause(lookMs);
}

/** Returns whether a daemon runs. Another process can have its number later, and has not its mark. */
function runs(pid: number, boot: string): boolean {
  const stat = processStat(pid);
  if (stat === undefined || stat.state === "Z") return false;
  return readProcessFile(pid, "environ").split("\0").includes(`${hostVariable}=${boot}`);
}
