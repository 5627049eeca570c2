/**
 * Submits a job, or finds the one that an earlier run of the program has submitted. The lock of the cache is held
 * meanwhile, so that drivers that start together use one allocation.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../shared/text/error-message.js";
import { type ClientOrder, recordFileOf } from "./batch/client.js";
import { JobCache } from "./cache/job-cache.js";
import { removeOldRuns } from "./cache/remove-old-runs.js";
import { credentialsFolder, removeCredentials } from "./credentials/credentials-folder.js";
import { JobSubmitError } from "./errors.js";
import { type CheckedOptions, defaultCache } from "./job-options.js";
import { hostPlaces } from "./mesh-spec.js";
import type { JobProvider, RunCredentials } from "./provider.js";
import { providerOf } from "./providers.js";
import { draftRecord } from "./record/draft-record.js";
import { formatRecord, type JobRecord } from "./record/job-record.js";
import { writeRecordFile } from "./record/record-file.js";
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
 * @param client the command of a batch job, which never uses a job that runs already
 * @throws JobSubmitError if the job cannot be submitted; nothing of it is left then
 * @throws JobCacheError if the cache cannot be used
 */
export async function submitJob(
  provider: JobProvider,
  options: CheckedOptions,
  cache: JobCache | undefined,
  signal: AbortSignal,
  client?: ClientOrder,
): Promise<SubmittedJob> {
  const lock = await cache?.lock(signal);
  try {
    const known = cache?.read();
    const usable = known === undefined ? undefined : await usableRecord(known, provider, cache!, options.name, client);
    if (usable !== undefined) return { record: usable, isNew: false };
    return { record: await submitNew(provider, options, cache, signal, client), isNew: true };
  } finally {
    lock?.release();
  }
}

/** Returns the record of the cache if the job can use its allocation. Destroys the allocation otherwise. */
async function usableRecord(
  known: JobRecord,
  provider: JobProvider,
  cache: JobCache,
  name: string,
  client: ClientOrder | undefined,
): Promise<JobRecord | undefined> {
  const earlier = providerOf(known, cache.file);
  const record = await withAllocation(known, earlier);
  const isSame = known.provider === provider.kind && known.specHash === specHash(provider.spec);
  const isAlive = record !== undefined && (await earlier.isAlive(record.allocation));
  // Nobody has asked for the end of a batch job, or of the hosts that another program may be using.
  if (isAlive && (client !== undefined || (record.command !== undefined && !isSame))) {
    throw new JobSubmitError(name, busyReason(record, cache.file));
  }
  if (isAlive && isSame) {
    if (record !== known) cache.write(record);
    return record;
  }
  if (record !== undefined) await earlier.destroy(record.allocation);
  removeCredentials(known.folder);
  cache.remove(known.applyId);
  return undefined;
}

function busyReason({ applyId, command }: JobRecord, file: string): string {
  const what = command === undefined ? "a job" : `the command ${command.map((word) => JSON.stringify(word)).join(" ")}`;
  return `${what} of the cache ${file} runs as ${applyId}; wait for its end, kill it, or name another file with the option cache`;
}

/** Completes the record of a driver that ended while it submitted. Returns undefined if nothing was submitted. */
async function withAllocation(record: JobRecord, provider: JobProvider): Promise<JobRecord | undefined> {
  if (record.allocation !== null) return record;
  const allocation = await provider.find(record.applyId, record.folder);
  return allocation === undefined ? undefined : { ...record, allocation };
}

/** Returns the folder of a run that is not recorded. The temporary folder of this machine is not that of its hosts. */
function folderWithoutCache({ sharesFolder = false }: JobProvider, applyId: string): string {
  return sharesFolder ? new JobCache(defaultCache).folderOf(applyId) : mkdtempSync(join(tmpdir(), "viceroy-job-"));
}

async function submitNew(
  provider: JobProvider,
  { name, idle, lostTimeout }: CheckedOptions,
  cache: JobCache | undefined,
  signal: AbortSignal,
  client: ClientOrder | undefined,
): Promise<JobRecord> {
  const applyId = randomUUID();
  const folder = cache?.folderOf(applyId) ?? folderWithoutCache(provider, applyId);
  const draft: JobRecord = {
    ...draftRecord(provider, { name, applyId, submittedAt: Date.now(), folder }),
    ...(client === undefined ? {} : { command: client.command }),
  };
  // A driver that is killed from here on leaves a record by which the next one finds what was submitted.
  cache?.write(draft);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const credentials = await newCredentials(provider, applyId, credentialsFolder(folder));
    const kept = cache === undefined ? undefined : idle;
    if (cache !== undefined) writeRecordFile(recordFileOf(folder), draft);
    const run = { name, applyId, folder, credentials, record: formatRecord(draft) };
    const submission = { ...run, idle: kept, lostTimeout, signal };
    const allocation = await provider.submit(client === undefined ? submission : { ...submission, client });
    const record = { ...draft, allocation };
    try {
      cache?.write(record);
      if (cache !== undefined) writeRecordFile(recordFileOf(folder), record);
    } catch (error) {
      await provider.destroy(record.allocation);
      throw error;
    }
    if (cache !== undefined) void removeOldRuns(cache.folder);
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

/** Makes the credentials of a new run; undefined if its hosts need none. */
async function newCredentials(
  { tls, meshes, largest = meshes }: JobProvider,
  applyId: string,
  folder: string,
): Promise<RunCredentials | undefined> {
  if (tls === null) return undefined;
  const { createCredentials } = await import("./credentials/index.js");
  return { folder, secrets: createCredentials(folder, applyId, hostPlaces(largest), tls.lifetime) };
}
