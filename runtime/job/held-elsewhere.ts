/**
 * The provider of a job whose hosts another machine holds. A process on a host of such a job knows which job it runs in,
 * and what the job has asked for. It has neither the keeper nor the credentials, so it can do nothing else with the job.
 */
import { JobElsewhereError } from "./errors.js";
import type { JobProvider } from "./provider.js";

/**
 * @param job the name of the job
 * @param machine the name of the machine that holds the hosts
 * @returns a provider that describes the same job, and rejects everything else with a JobElsewhereError
 */
export function heldElsewhere({ kind, spec, meshes }: JobProvider, job: string, machine: string): JobProvider {
  const refuse = () => Promise.reject(new JobElsewhereError(job, machine));
  return {
    kind,
    spec,
    meshes,
    tls: null,
    submit: refuse,
    find: refuse,
    ownAllocation: () => null,
    outcome: refuse,
    startOf: refuse,
    isAlive: refuse,
    hosts: refuse,
    watch: refuse,
    destroy: refuse,
    // biome-ignore lint/correctness/useYield: It ends before its first line.
    async *logs() {
      await refuse();
    },
  };
}
