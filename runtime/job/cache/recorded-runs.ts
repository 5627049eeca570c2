/** The runs of jobs whose folders are beside a cache. Each folder contains the record of its run, also after the end. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { recordFileOf } from "../batch/client.js";
import { type JobRecord, parseRecord } from "../record/job-record.js";

/** Returns the records of the user in a folder of runs that were submitted completely, the newest first. */
export function recordedRuns(folder: string): JobRecord[] {
  return namesIn(folder)
    .flatMap((name) => recordIn(join(folder, name)) ?? [])
    .sort((left, right) => right.submittedAt - left.submittedAt);
}

/**
 * Returns the records of all runs but the newest ones, the newest first. The records of those are not read: their order is
 * that of the times at which they were written.
 * @param newest the number of runs that are left out
 */
export function recordedRunsAfter(folder: string, newest: number): JobRecord[] {
  const names = namesIn(folder);
  if (names.length <= newest) return [];
  return names
    .map((name) => ({ name, writtenAt: writtenAt(join(folder, name)) }))
    .sort((left, right) => right.writtenAt - left.writtenAt)
    .slice(newest)
    .flatMap(({ name }) => recordIn(join(folder, name)) ?? []);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing was submitted from there.
    return [];
  }
}

/** Returns the time at which the record of a run was written, in ms since 1970; 0 if there is none. */
function writtenAt(folder: string): number {
  try {
    return statSync(recordFileOf(folder)).mtimeMs;
  } catch {
    // The folder is from another user, or is being removed.
    return 0;
  }
}

function recordIn(folder: string): JobRecord | undefined {
  const file = recordFileOf(folder);
  try {
    if (statSync(file).uid !== process.getuid?.()) return undefined;
    const record = parseRecord(readFileSync(file, "utf8"));
    return typeof record === "string" || record.allocation === null ? undefined : record;
  } catch {
    // The folder is from another version, or is being removed.
    return undefined;
  }
}
