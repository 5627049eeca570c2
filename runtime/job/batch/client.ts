/**
 * The client of a batch job: the program of the user, which runs inside the allocation next to the hosts. Here is what
 * its provider is told, and the files by which it finds its job and leaves its exit code.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The environment variable of a client, and of what it starts: the path of the record of its job. */
export const batchVariable = "VICEROY_BATCH_JOB";

/** The environment variable of the hosts of a job with a cache, and of their processes: the path of the record of the job. */
export const recordVariable = "VICEROY_JOB_RECORD";

/** The command of a client, and its surroundings. */
export interface ClientOrder {
  /** The program and its arguments. No shell reads them. */
  readonly command: readonly string[];
  readonly cwd: string;
  /** Environment variables in addition to those of the allocation. */
  readonly env: Readonly<Record<string, string>>;
}

/** How a client has ended. */
export interface ClientOutcome {
  /** Its exit code, or 128 plus the number of the signal that has ended it. */
  readonly exitCode: number;
  /** The time of its end, in ms since 1970. Absent if an older version has written the outcome. */
  readonly endedAt?: number;
  /** Why it could not be started; absent if it has run. */
  readonly error?: string;
  /** The end of the job in the words of the scheduler, if there is one. */
  readonly scheduler?: string;
}

/** The exit code of a command that could not be started, as shells have it. */
export const notStartedCode = 127;

/** Returns the path of the record of a job in the folder of the run. */
export function recordFileOf(folder: string): string {
  return join(folder, "job.json");
}

/** Returns the path of the file with the outcome of the client in the folder of the run. */
export function outcomeFileOf(folder: string): string {
  return join(folder, "outcome.json");
}

/** Returns the path of the file with the time in ms since 1970 at which the client was started, in the folder of the run. */
export function startFileOf(folder: string): string {
  return join(folder, "started");
}

/** Returns why a command could not be started. @param why in the words of the system */
export function notStarted([program = ""]: readonly string[], why: string): ClientOutcome {
  return { exitCode: notStartedCode, error: `its command ${JSON.stringify(program)} could not be started: ${why}` };
}

/** Writes the outcome of a client that has ended. The time of its end is now, unless the outcome has it. */
export function writeOutcome(folder: string, outcome: ClientOutcome): void {
  writeWhole(outcomeFileOf(folder), JSON.stringify({ endedAt: Date.now(), ...outcome }));
}

/** Notes that the client is started now. */
export function writeStart(folder: string): void {
  writeWhole(startFileOf(folder), String(Date.now()));
}

function writeWhole(file: string, text: string): void {
  writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
}

/** Returns the time at which the client of a run on this machine was started; undefined if it was not. */
export function readStart(folder: string): number | undefined {
  try {
    return parseStart(readFileSync(startFileOf(folder), "utf8"));
  } catch {
    return undefined;
  }
}

/** Reads the text of a start file; undefined if it is none. */
export function parseStart(text: string): number | undefined {
  const at = Number.parseInt(text, 10);
  return Number.isNaN(at) ? undefined : at;
}

/** Returns the outcome of the client of a run on this machine; undefined if it runs, or was killed with its job. */
export function readOutcome(folder: string): ClientOutcome | undefined {
  try {
    return parseOutcome(readFileSync(outcomeFileOf(folder), "utf8"));
  } catch {
    return undefined;
  }
}

/** Reads the text of an outcome; undefined if it is none. */
export function parseOutcome(text: string): ClientOutcome | undefined {
  try {
    const value = JSON.parse(text) as ClientOutcome;
    return Number.isInteger(value.exitCode) ? value : undefined;
  } catch {
    return undefined;
  }
}
