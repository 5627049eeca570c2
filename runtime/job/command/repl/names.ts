/** The names that are known at the prompt of a job. */
import type { DetachedActorInfo } from "../../../tasks/index.js";
import type { Job } from "../../job.js";
import type { JobState } from "../../job-state.js";
import { type HostMesh, publishedNames } from "../../kernel.js";
import { detachedActorsOf, type ListedActor } from "../list-actors.js";

/** The names at the prompt, with their values. */
export interface PromptNames {
  /** All that the package `viceroy` exports. */
  readonly viceroy: Readonly<Record<string, unknown>>;
  /** The generated modules by the names of their variables. */
  readonly generated: Readonly<Record<string, unknown>>;
  readonly job: {
    readonly job: Job;
    /** The meshes of hosts by name. */
    readonly hosts: JobState<string>;
    /** Returns the names of the published meshes, for `lookup`. */
    published(): Promise<string[]>;
    /** Lists the detached actors on all hosts of the job, or on those of a mesh. */
    detachedActors(hosts?: HostMesh): Promise<readonly (ListedActor | DetachedActorInfo)[]>;
  };
}

/** @param modules the names of variables for the generated modules, and the URLs of these */
export async function namesOf(
  job: Job,
  hosts: JobState<string>,
  modules: readonly (readonly [string, string])[],
): Promise<PromptNames> {
  const viceroy = await import("../../../index.js");
  // `lookup` knows the interfaces of all modules that are loaded, so it needs no class.
  const loaded = await Promise.all(modules.map(async ([name, url]) => [name, await import(url)] as const));
  return {
    viceroy,
    generated: Object.fromEntries(loaded),
    job: {
      job,
      hosts,
      // Names with a slash belong to Viceroy itself.
      published: async () => (await publishedNames()).filter((name) => !name.startsWith("viceroy/")),
      detachedActors: async (mesh) => {
        if (mesh === undefined) return detachedActorsOf(job, hosts);
        return (await import("../../../tasks/index.js")).detachedActors(mesh);
      },
    },
  };
}

/** Makes the names known to a prompt. Those of the job go first. */
export function defineNames(context: object, { viceroy, generated, job }: PromptNames): void {
  Object.assign(context, viceroy, generated, job);
}
