/** Types only: how a generated class declares the type of its meshes for given dimensions. */

/**
 * Describes an actor interface to the type checker: how its meshes are made for given dimensions. Generated code
 * extends it.
 */
export interface MeshKind {
  /** The names of the dimensions, set by {@link Apply}. */
  readonly dims: string;
  /** The arguments of the constructor. */
  readonly args: readonly unknown[];
  /** The type of the mesh with the dimensions `this["dims"]`. */
  readonly mesh: unknown;
}

export type { Apply } from "../shape/index.js";

/** A value, or a promise of one. */
export type Awaitable<T> = T | PromiseLike<T>;
