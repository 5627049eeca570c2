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

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Nothing was submitted from there.
    return [];
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
