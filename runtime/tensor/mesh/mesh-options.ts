/** The options of tensor meshes, and the parts that a mesh can be cut into. */
import type { Point, Range } from "../../index.js";

/** The options of `activate`. */
export interface ActivateOptions {
  /**
   * The number of threads that one operation may use on each proc, from 1. Default: the processors of this machine
   * divided by the number of procs; set it if the procs are on several machines.
   */
  readonly threads?: number;
  /**
   * Whether an operation fails if its result contains NaN. The check reads every result, which takes time. Default:
   * false.
   */
  readonly refuseNaN?: boolean;
  /**
   * The device of the tensors: `cpu`; `cuda`, where the rank of the proc selects the device; `cuda:1`; or a function
   * that returns the device of each proc. Default: `cpu`.
   */
  readonly device?: string | ((point: Point) => string);
}

/** A part of a mesh: an index removes its dimension, a range keeps a part of it, and a point selects one proc. */
export type Part = Readonly<Record<string, number | Range>> | Point;

/** Checked options. `devices` has one device for all procs, one for each rank, or none, which means `cpu`. */
export interface TensorMeshOptions {
  readonly threads: number;
  readonly refuseNaN: boolean;
  readonly devices: readonly string[];
}
