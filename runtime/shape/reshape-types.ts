/**
 * The parameter and result types of the methods of meshes. Names of dimensions are type parameters, so that a wrong name does
 * not compile. Dimensions that are only known at run time have the type `string`.
 */
import type { Point } from "./point.js";
import type { Range } from "./range.js";

/**
 * The parameter of `slice`: an index removes its dimension, a range keeps a part of it. Dimensions that are not
 * mentioned stay whole.
 */
export type SliceSpec<D extends string = string> = { readonly [K in D]?: number | Range };

/**
 * `S`, if it has no other keys than `Allowed`; otherwise a type that no value has. TypeScript accepts further keys in
 * generic parameters without it.
 */
export type OnlyKeys<Allowed extends string, S> = [Exclude<keyof S, Allowed>] extends [never]
  ? S
  : S & { readonly [K in Exclude<keyof S, Allowed>]: never };

/** The dimensions that remain of `D` after `slice(spec: S)`. */
export type Sliced<D extends string, S> = Exclude<D, { [K in keyof S]: S[K] extends number ? K : never }[keyof S]>;

/**
 * A point with the dimensions `P` in a mesh with the dimensions `D`. Dimensions that are known at run time only are
 * checked at run time.
 */
export type PointFor<D extends string, P extends string> = Point<P> & SameDimensions<D, P>;

type SameDimensions<D extends string, P extends string> = string extends D
  ? unknown
  : string extends P
    ? unknown
    : [D, P] extends [P, D]
      ? unknown
      : never;

/** The parameter of `split`: the new dimensions of each dimension, outermost first. */
export type SplitSpec<D extends string = string> = { readonly [K in D]?: readonly string[] };

/** The new dimensions of a split. */
export type SplitNames<M> = { [K in keyof M]: M[K] extends readonly (infer N extends string)[] ? N : never }[keyof M];

/** The dimensions of `D` after `split(spec: M)`. */
export type Split<D extends string, M> = Exclude<D, keyof M> | SplitNames<M>;

/** The parameter of `rename`: the new names of dimensions. */
export type RenameSpec<D extends string = string> = { readonly [K in D]?: string };

/** The dimensions of `D` after `rename(names: M)`. */
export type Renamed<D extends string, M> = Exclude<D, keyof M> | Extract<M[keyof M], string>;

/** The sizes of the new dimensions of a split; one size of each split can be left out. */
export type SplitSizes<N extends string> = { readonly [K in N]?: number };
