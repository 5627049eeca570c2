/** Runs programs that use jobs (test/fixtures/crew/programs/on-a-job.ts) as separate processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { markedProcesses } from "../../runtime/job/keeper/marked-processes.js";
import { project } from "../proc/crew.js";

/** What the program prints when its actors have answered. */
export interface Crew {
  readonly applyId: string;
  /** The folder of the files of the run. */
  readonly folder: string;
  /** The processes of the actors. */
  readonly pids: readonly number[];
}

export interface JobProgram {
  readonly child: ChildProcess;
  /** Resolves when the actors have answered. */
  readonly crew: Promise<Crew>;
  /** Resolves with the exit code when the program has ended. */
  readonly exited: Promise<number | null>;
}

/** Returns the path of a cache file in a new folder. */
export function newCache(): string {
  return join(mkdtempSync(join(tmpdir(), "vc-")), "job_state.json");
}

/** Starts the program. @param cache the cache file, or "none" */
export function startProgram(cache: string, how: "wait" | "leave" | "kill", idle = "1h"): JobProgram {
  const argv = ["--import", "tsx", join(project, "programs/on-a-job.ts"), cache, how, idle];
  const child = spawn(process.execPath, argv, { cwd: project, stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  let printed = "";
  const crew = new Promise<Crew>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      if (printed.includes("\n")) resolve(JSON.parse(printed.split("\n", 1)[0]!) as Crew);
    });
    void text(child.stderr).then((complaint) => reject(new Error(`the program has ended: ${complaint}`)));
  });
  crew.catch(() => {});
  return { child, crew, exited };
}

/**
 * Returns the processes of a job that run, without the keeper, without the shells that end what outlives a daemon, and without the spares of
 * daemons.
 */
export function processesOf(applyId: string): number[] {
  return markedProcesses(applyId).filter((pid) => !isHelper(pid));
}

function isHelper(pid: number): boolean {
  try {
    return /viceroy-watcher|\0--spare\0/.test(readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  } catch {
    return false;
  }
}
