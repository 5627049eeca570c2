/** Slices of one rank. */
import { Point } from "../../index.js";

interface Sliceable {
  readonly extent: Readonly<Record<string, number>>;
  slice(spec: Record<string, number>): unknown;
}

/** Returns one rank of a mesh, as a mesh without dimensions. */
export function atRank<M extends Sliceable, One>(mesh: M, rank: number): One {
  return mesh.slice({ ...new Point(mesh.extent, rank).coordinates }) as One;
}
