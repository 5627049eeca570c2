/** The host meshes of a running job, by name. */

import { NoSuchMeshError } from "./errors.js";
import type { HostMesh } from "./kernel.js";

/** The host meshes of a running job. Each mesh has one dimension, `hosts`. */
export type JobState<M extends string> = { readonly [K in M]: HostMesh<"hosts"> };

/**
 * Returns an object whose properties are the meshes. Reading any other name throws {@link NoSuchMeshError}, because a
 * name that is misspelt at run time would otherwise be `undefined` much later.
 */
export function makeJobState<M extends string>(
  job: string,
  meshes: Readonly<Record<M, HostMesh<"hosts">>>,
): JobState<M> {
  const names = Object.keys(meshes) as M[];
  const target: Record<string, HostMesh<"hosts">> = Object.assign(Object.create(null), meshes);
  Object.freeze(target);
  return new Proxy(target, {
    get(_, name) {
      // `await` reads `then`, and serializers read `toJSON`.
      if (typeof name === "symbol" || name === "then" || name === "toJSON") return undefined;
      const mesh = target[name];
      if (mesh === undefined) throw new NoSuchMeshError(job, name, names);
      return mesh;
    },
  }) as JobState<M>;
}
