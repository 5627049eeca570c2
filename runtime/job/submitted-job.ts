/**
 * Submits a job, or finds the one that an earlier run of the program has submitted. The lock of the cache is held
 * meanwhile, so that drivers that start together use one allocation.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../shared/text/error-message.js";
import type { JobCache } from "./cache/job-cache.js";
import { JobSubmitError } from "./errors.js";
import type { CheckedOptions } from "./job-options.js";
import { version } from "./kernel.js";
import type { JobProvider } from "./provider.js";
import { providerOf } from "./providers.js";
import { type JobRecord, recordVersion } from "./record/job-record.js";
import { specHash } from "./record/spec-hash.js";

/** A job that runs. */
export interface SubmittedJob {
  readonly record: JobRecord;
  /** Whether this call has submitted it. Otherwise an earlier run of the program has. */
  readonly isNew: boolean;
}

/**
 * Returns a job that runs: that of the cache if it asks for the same and is alive, otherwise a new one. What the cache
 * has besides is destroyed.
 * @throws JobSubmitError if the job cannot be submitted; nothing of it is left then
 * @throws JobCacheError if the cache cannot be used
 */
export async function submitJob(
  provider: JobProvider,
  options: CheckedOptions,
  cache: JobCache | undefined,
  signal: AbortSignal,
): Promise<SubmittedJob> {
  const lock = await cache?.lock(signal);
  try {
    const known = cache?.read();
    const usable = known === undefined ? undefined : await usableRecord(known, provider, cache!);
    if (usable !== undefined) return { record: usable, isNew: false };
    return { record: await submitNew(provider, options, cache, signal), isNew: true };
  } finally {
    await lock?.release();
  }
}

/** Returns the record of the cache if the job can use its allocation. Destroys the allocation otherwise. */
async function usableRecord(known: JobRecord, provider: JobProvider, cache: JobCache): Promise<JobRecord | undefined> {
  const earlier = providerOf(known, cache.file);
  const record = await withAllocation(known, earlier);
  const isSame = known.provider === provider.kind && known.specHash === specHash(provider.spec);
  if (record !== undefined && isSame && (await provider.isAlive(record.allocation))) {
    if (record !== known) cache.write(record);
    return record;
  }
  if (record !== undefined) await earlier.destroy(record.allocation);
  cache.remove(known.applyId);
  return undefined;
}

/** Completes the record of a driver that ended while it submitted. Returns undefined if nothing was submitted. */
async function withAllocation(record: JobRecord, provider: JobProvider): Promise<JobRecord | undefined> {
  if (record.allocation !== null) return record;
  const allocation = await provider.find(record.applyId, record.folder);
  return allocation === undefined ? undefined : { ...record, allocation };
}

async function submitNew(
  provider: JobProvider,
  { name, idle }: CheckedOptions,
  cache: JobCache | undefined,
  signal: AbortSignal,
): Promise<JobRecord> {
  const applyId = randomUUID();
  const folder = cache?.folderOf(applyId) ?? mkdtempSync(join(tmpdir(), "viceroy-job-"));
  const draft: JobRecord = {
    version: recordVersion,
    viceroy: version,
    provider: provider.kind,
    name,
    spec: provider.spec,
    specHash: specHash(provider.spec),
    applyId,
    uid: process.getuid?.() ?? 0,
    submittedAt: Date.now(),
    folder,
    allocation: null,
  };
  // A driver that is killed from here on leaves a record by which the next one finds what was submitted.
  cache?.write(draft);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const kept = cache === undefined ? undefined : idle;
    const record = { ...draft, allocation: await provider.submit({ name, applyId, folder, idle: kept, signal }) };
    try {
      cache?.write(record);
    } catch (error) {
      await provider.destroy(record.allocation);
      throw error;
    }
    return record;
  } catch (cause) {
    cache?.remove(applyId);
    rmSync(folder, { recursive: true, force: true });
    if (signal.aborted) throw signal.reason;
    throw cause instanceof Error && cause.name === "JobCacheError"
      ? cause
      : new JobSubmitError(name, errorMessage(cause), { cause });
  }
}
