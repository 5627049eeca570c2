/** Tests of the folders of runs beside a cache. No job runs here: the records are written by hand. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordFileOf } from "../../runtime/job/batch/client.js";
import { removeOldRuns } from "../../runtime/job/cache/remove-old-runs.js";
import { formatRecord, recordVersion } from "../../runtime/job/record/job-record.js";

/** Writes a run that has ended. @param age its age in seconds */
function writeRun(folder: string, age: number): void {
  const applyId = `run-${age}`;
  const own = join(folder, applyId);
  mkdirSync(own);
  const spec = { meshes: {} };
  const allocation = { applyId, directory: join(own, "sockets"), logs: join(own, "logs") };
  const known = { version: recordVersion, viceroy: "0.1.0", provider: "process", name: "old", spec, specHash: "" };
  const submittedAt = 2e12 - age * 1000;
  const record = { ...known, applyId, uid: 0, submittedAt, folder: own, allocation };
  writeFileSync(recordFileOf(own), formatRecord(record));
  utimesSync(recordFileOf(own), 2e9 - age, 2e9 - age);
}

test("the folders of the newest 20 runs are kept, and older ones are removed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "vt-"));
  for (let age = 22; age >= 1; age--) writeRun(folder, age);
  await removeOldRuns(folder);
  expect(existsSync(join(folder, "run-20"))).toBe(true);
  expect(readdirSync(folder)).toHaveLength(20);
});

test("a folder without a record stays, and is older than all runs", async () => {
  const folder = mkdtempSync(join(tmpdir(), "vt-"));
  mkdirSync(join(folder, "other"));
  for (let age = 20; age >= 1; age--) writeRun(folder, age);
  await removeOldRuns(folder);
  expect(readdirSync(folder)).toHaveLength(21);
});
