/** The meshes that a command is for. */
import { NoSuchMeshError } from "../errors.js";
import type { Job } from "../job.js";

/** Returns the names of the meshes of a job, or the one that the user has named. @throws NoSuchMeshError if there is none of that name */
export function checkedMesh(job: Job, mesh: string | undefined): readonly string[] {
  const names = Object.keys(job.meshes);
  if (mesh === undefined) return names;
  if (!names.includes(mesh)) throw new NoSuchMeshError(job.name, mesh, names);
  return [mesh];
}
