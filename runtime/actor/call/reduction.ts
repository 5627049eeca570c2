/**
 * Reductions: how the answers of all ranks become one. Folded in rank order; the operations are associative, so that
 * parts of the mesh can be folded where they are.
 */

/** A reduction that has parameters of its own: `topK(10)`. */
export interface Reducer<R, X> {
  /** For people. */
  readonly name: string;
  readonly fold: (values: readonly R[]) => X;
  /** By which every process knows it, so that parts of the mesh are folded where they are. */
  readonly everywhere?: string;
}

/** What a named operation makes of answers of type `R`. */
export interface Reductions<R> {
  readonly sum: R;
  readonly min: R;
  readonly max: R;
  readonly concat: R extends readonly (infer I)[]
    ? I[]
    : R extends string
      ? string
      : R extends Uint8Array
        ? Uint8Array
        : never;
  readonly count: number;
}

export type ReductionName = keyof Reductions<unknown>;

/** What `reduce` takes: a name, a reducer, or an associative function. */
export type Operation<R, X> = ReductionName | Reducer<R, X> | ((left: R, right: R) => R);

/** What `reduce` answers. */
export type Reduced<R, O> = O extends ReductionName
  ? Reductions<R>[O]
  : O extends Reducer<never, infer X>
    ? X
    : O extends (...args: never[]) => unknown
      ? R
      : never;

/**
 * The `k` largest of all items that the ranks answered with, largest first; among equals those of lower ranks first.
 * @param by what counts; the item itself when left out
 */
export function topK<I>(k: number, by?: (item: I) => number | bigint): Reducer<readonly I[], I[]> {
  if (!Number.isInteger(k) || k < 0)
    throw new RangeError(`cannot take the top ${String(k)}: expected an integer of at least 0`);
  const key = by ?? (Number as (item: I) => number);
  return {
    name: `topK(${k})`,
    // A function is known to this process alone.
    ...(by === undefined ? { everywhere: `topK ${k}` } : {}),
    fold: (values) => {
      const keyed = values.flat().map((item) => [key(item), item] as const);
      keyed.sort(([a], [b]) => (a < b ? 1 : a > b ? -1 : 0));
      return keyed.slice(0, k).map(([, item]) => item);
    },
  };
}

const registeredReducers = new Map<string, (left: never, right: never) => unknown>();

/**
 * A reduction by an associative function that every process knows by its name, if the module of its actors registers it:
 * then parts of a large mesh are folded where they are. Processes that do not know it pass the answers on.
 * @throws Error if the name is taken by another function
 */
export function registerReducer<R>(name: string, combine: (left: R, right: R) => R): Reducer<R, R> {
  const known = registeredReducers.get(name);
  if (known !== undefined && known !== combine) {
    throw new Error(`cannot register reducer "${name}": another function has that name already`);
  }
  registeredReducers.set(name, combine);
  return {
    name,
    everywhere: `registered ${name}`,
    fold: (values) => foldPairwise(name, values, combine as Combine) as R,
  };
}

type Combine = (left: unknown, right: unknown) => unknown;

/** By which every process knows an operation; empty: this one alone knows it. */
export function reductionName(operation: unknown): string {
  if (typeof operation === "string") return operation;
  return typeof operation === "object" && operation !== null
    ? ((operation as Reducer<never, unknown>).everywhere ?? "")
    : "";
}

/** The operation of that name, whose results can be folded again; undefined: it is not known here. */
export function findReduction(name: string): ((values: readonly unknown[]) => unknown) | undefined {
  if (Object.hasOwn(namedFolds, name)) return (values) => namedFolds[name as ReductionName]("", values);
  const k = /^topK (\d+)$/.exec(name)?.[1];
  if (k !== undefined) return topK(Number(k)).fold as (values: readonly unknown[]) => unknown;
  const combine = registeredReducers.get(name.replace(/^registered /, ""));
  return combine === undefined ? undefined : (values) => foldPairwise(name, values, combine as Combine);
}

/** @throws TypeError if it is none of what `reduce` takes */
export function foldOf(label: string, operation: unknown): (values: readonly unknown[]) => unknown {
  if (typeof operation === "function") {
    return (values) => foldPairwise(label, values, operation as (left: unknown, right: unknown) => unknown);
  }
  if (typeof operation === "string" && Object.hasOwn(namedFolds, operation)) {
    return (values) => namedFolds[operation as ReductionName](label, values);
  }
  if (typeof operation === "object" && operation !== null && "fold" in operation) {
    return (operation as Reducer<unknown, unknown>).fold;
  }
  const names = Object.keys(namedFolds).join(", ");
  if (operation === undefined) {
    throw new TypeError(
      `cannot reduce ${label}: expected ${names}, a reducer or a function, got none, and the endpoint has no @reduce`,
    );
  }
  throw new TypeError(`cannot reduce ${label}: expected ${names}, a reducer or a function, got ${String(operation)}`);
}

type Fold = (label: string, values: readonly unknown[]) => unknown;
type Comparable = number | bigint | string | Date;

const namedFolds: { readonly [name in ReductionName]: Fold } = {
  sum: (label, values) => {
    if (values.length === 0) return 0;
    return foldPairwise(
      label,
      values.map((value) => requireNumber(label, value)),
      add,
    );
  },
  min: (label, values) => foldPairwise(label, values, (a: Comparable, b: Comparable) => (b < a ? b : a)),
  max: (label, values) => foldPairwise(label, values, (a: Comparable, b: Comparable) => (b > a ? b : a)),
  concat: concat,
  count: (_label, values) => values.length,
};

function foldPairwise<T>(label: string, values: readonly unknown[], combine: (a: T, b: T) => T): T {
  if (values.length === 0) throw new RangeError(`cannot reduce ${label}: the mesh is empty`);
  return (values as readonly T[]).reduce(combine);
}

function add(a: unknown, b: unknown): unknown {
  return (a as number) + (b as number);
}

function requireNumber(label: string, value: unknown): unknown {
  if (typeof value === "number" || typeof value === "bigint") return value;
  throw new TypeError(`cannot reduce ${label}: sum takes numbers, got ${typeof value}`);
}

function concat(label: string, values: readonly unknown[]): unknown {
  const [first] = values;
  if (first === undefined) return [];
  if (typeof first === "string") return values.join("");
  if (Array.isArray(first)) return values.flat();
  if (first instanceof Uint8Array) return new Uint8Array(Buffer.concat(values as Uint8Array[]));
  throw new TypeError(`cannot reduce ${label}: concat takes arrays, strings or bytes, got ${typeof first}`);
}
