/** One rank of a mesh of any kind. */

/** What all meshes have: an extent, and slices. */
interface Sliceable {
  readonly extent: Readonly<Record<string, number>>;
  slice(spec: Record<string, number>): unknown;
}

/** Returns one rank of a mesh, as a mesh without dimensions. */
export function oneRank<M extends Sliceable, One>(mesh: M, rank: number): One {
  const spec: Record<string, number> = {};
  let rest = rank;
  for (const [name, size] of Object.entries(mesh.extent).reverse()) {
    spec[name] = rest % size;
    rest = Math.floor(rest / size);
  }
  return mesh.slice(spec) as One;
}
