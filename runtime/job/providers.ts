/** The providers by name, to make them again from a record. */
import { JobCacheError } from "./errors.js";
import type { Json } from "./json.js";
import { kubernetesProvider } from "./kubernetes/deferred-provider.js";
import { localProvider } from "./local/local-provider.js";
import { processProvider } from "./process/process-provider.js";
import type { JobProvider } from "./provider.js";
import type { JobRecord } from "./record/job-record.js";
import { skyPilotProvider } from "./skypilot/deferred-provider.js";
import { slurmProvider } from "./slurm/slurm-provider.js";
import { sshProvider } from "./ssh/ssh-provider.js";

const providers: Readonly<Record<string, (spec: Json) => JobProvider>> = {
  kubernetes: kubernetesProvider as (spec: Json) => JobProvider,
  local: localProvider as (spec: Json) => JobProvider,
  process: processProvider as (spec: Json) => JobProvider,
  skypilot: skyPilotProvider as (spec: Json) => JobProvider,
  slurm: slurmProvider as (spec: Json) => JobProvider,
  ssh: sshProvider as (spec: Json) => JobProvider,
};

/**
 * Returns the provider that has submitted a job.
 * @param file where the record comes from, for the error
 * @throws JobCacheError if this version has no such provider
 */
export function providerOf({ provider, spec, viceroy }: JobRecord, file: string): JobProvider {
  const make = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (make !== undefined) return make(spec);
  throw new JobCacheError(
    file,
    `Viceroy ${viceroy} has written it for the provider "${provider}", which is not known here`,
  );
}
