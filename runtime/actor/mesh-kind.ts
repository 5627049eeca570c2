/** Types alone: how a generated class says which mesh, with which dimensions, is made of it. */

export interface MeshKind {
  /** Set by `Apply`. */
  readonly dims: string;
  /** Of the constructor. */
  readonly args: readonly unknown[];
  /** The mesh with the dimensions `this["dims"]`. */
  readonly mesh: unknown;
}

/** The mesh of a kind with the dimensions `D`. */
export type Apply<K, D extends string> = K extends { readonly mesh: unknown }
  ? (K & { readonly dims: D })["mesh"]
  : never;

/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;
