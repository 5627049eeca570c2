/** Writes the record of a job as a whole: a reader finds the old record or the new one. Only the user can read it. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { formatRecord, type JobRecord } from "./job-record.js";

export function writeRecordFile(file: string, record: JobRecord): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    writeFileSync(draft, formatRecord(record), { mode: 0o600, flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
