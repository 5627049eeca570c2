/** Makes the record of a job that is about to be submitted. */
import type { Json } from "../json.js";
import { version } from "../kernel.js";
import { type JobRecord, recordVersion } from "./job-record.js";
import { specHash } from "./spec-hash.js";

/** Returns the record of a run of this user by this version of Viceroy. The provider has allocated nothing yet. */
export function draftRecord(
  { kind, spec }: { readonly kind: string; readonly spec: Json },
  run: Pick<JobRecord, "name" | "applyId" | "submittedAt" | "folder">,
): JobRecord {
  return {
    version: recordVersion,
    viceroy: version,
    provider: kind,
    name: run.name,
    spec,
    specHash: specHash(spec),
    applyId: run.applyId,
    uid: process.getuid?.() ?? 0,
    submittedAt: run.submittedAt,
    folder: run.folder,
    allocation: null,
  };
}
