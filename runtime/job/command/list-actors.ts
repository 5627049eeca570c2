/** The detached actors of a job that runs, for `viceroy job state`. */
import { errorMessage } from "../../../shared/text/error-message.js";
import type { DetachedActorInfo } from "../../tasks/index.js";
import { attach } from "../attach.js";
import type { Job } from "../job.js";
import type { JobState } from "../job-state.js";
import { formatPlace } from "../mesh-spec.js";
import { withAnswerLimit } from "./answer-limit.js";

/** A detached actor, with its host in the job. */
export interface ListedActor extends Pick<DetachedActorInfo, "name" | "classId" | "incarnation" | "state"> {
  /** The host: `workers[1]`. */
  readonly host: string;
}

/** The actors, or why they are not known. */
export type ListedActors = { readonly actors: readonly ListedActor[] } | { readonly reason: string };

/** Asks the hosts of a job that runs for its detached actors. Never rejects. */
export async function listActors(job: Job): Promise<ListedActors> {
  try {
    return { actors: await withAnswerLimit((signal) => actorsOf(job, signal)) };
  } catch (error) {
    return { reason: errorMessage(error) };
  }
}

async function actorsOf(job: Job, signal: AbortSignal): Promise<readonly ListedActor[]> {
  return detachedActorsOf(job, await attach(job, { signal }));
}

/** Returns the detached actors on all hosts of a job. Rejects with the reason if they are not known. */
export async function detachedActorsOf(job: Job, meshes: JobState<string>): Promise<readonly ListedActor[]> {
  const { detachedActors } = await import("../../tasks/index.js");
  const listed = await Promise.all(
    Object.keys(job.meshes).map(async (mesh) => {
      const actors = await detachedActors(meshes[mesh]!);
      return actors.map(({ name, classId, host, incarnation, state }) => {
        const place = host === undefined ? "unknown" : formatPlace({ mesh, rank: host });
        return { name, classId, host: place, incarnation, state };
      });
    }),
  );
  return listed.flat();
}

/** Returns a table of actors, as lines. There is none for a job without actors. */
export function actorTable(actors: readonly ListedActor[]): string[] {
  if (actors.length === 0) return [];
  const rows = actors.map(({ name, classId, host, incarnation, state }) => [
    name,
    classId,
    host,
    `${incarnation}`,
    state,
  ]);
  const all = [["actor", "class", "host", "incarnation", "state"], ...rows];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd(),
  );
}
