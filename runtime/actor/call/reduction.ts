/**
 * Reductions: operations that combine the answers of all ranks, in rank order. They are associative, so that procs of a
 * cast tree can combine the answers of parts of the mesh.
 */

/**
 * A reduction with parameters of its own, such as {@link topK}. `R` is the type of the answers, `X` that of the result.
 */
export interface Reducer<R, X> {
  /** The name in error messages. */
  readonly name: string;
  /** Combines answers, which are in rank order, into one result. */
  readonly fold: (values: readonly R[]) => X;
  /**
   * The name under which every process knows the reduction, so that answers are combined on their way to the caller.
   * Without it, the caller receives all answers and combines them.
   */
  readonly everywhere?: string;
}

/** The results of the named reductions over answers of type `R`. */
export interface Reductions<R> {
  /** The sum of the answers. */
  readonly sum: R;
  /** The smallest answer. */
  readonly min: R;
  /** The largest answer. */
  readonly max: R;
  /** The answers one after another, in rank order: of arrays, strings or bytes. */
  readonly concat: R extends readonly (infer I)[]
    ? I[]
    : R extends string
      ? string
      : R extends Uint8Array
        ? Uint8Array
        : never;
  /** The number of answers. */
  readonly count: number;
}

/** The names of the built-in reductions. */
export type ReductionName = keyof Reductions<unknown>;

/** The operations that `reduce` accepts: a name, a reducer, or an associative function of two answers. */
export type Operation<R, X> = ReductionName | Reducer<R, X> | ((left: R, right: R) => R);

/** The result of `reduce` with the operation `O` over answers of type `R`. */
export type Reduced<R, O> = O extends ReductionName
  ? Reductions<R>[O]
  : O extends Reducer<never, infer X>
    ? X
    : O extends (...args: never[]) => unknown
      ? R
      : never;

/**
 * Returns a reduction that takes the `k` largest of all items that the ranks answered with. The largest comes first;
 * among equal items, those of lower ranks come first.
 *
 * @param k number of items, an integer from 0
 * @param by returns the number that an item is compared by; without it, the item itself is compared
 * @throws {RangeError} when `k` is not an integer of at least 0
 */
export function topK<I>(k: number, by?: (item: I) => number | bigint): Reducer<readonly I[], I[]> {
  if (!Number.isInteger(k) || k < 0)
    throw new RangeError(`cannot take the top ${String(k)}: expected an integer of at least 0`);
  const key = by ?? (Number as (item: I) => number);
  return {
    name: `topK(${k})`,
    // Other processes do not know the function.
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
 * Registers an associative function under a name, and returns it as a reduction. If the module that defines the actors
 * calls it, every process knows the name, and answers of a large mesh are combined on their way to the caller.
 * Processes that do not know the name pass the answers on.
 *
 * @param name a name that is unique in the program
 * @param combine an associative function of two answers
 * @throws {Error} when another function has been registered under the name
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

/** Returns the name by which every process knows an operation, or an empty string if only this process knows it. */
export function reductionName(operation: unknown): string {
  if (typeof operation === "string") return operation;
  return typeof operation === "object" && operation !== null
    ? ((operation as Reducer<never, unknown>).everywhere ?? "")
    : "";
}

/** Returns the operation with a name from `reductionName`, or undefined if this process does not know it. */
export function findReduction(name: string): ((values: readonly unknown[]) => unknown) | undefined {
  if (Object.hasOwn(namedFolds, name)) return (values) => namedFolds[name as ReductionName]("", values);
  const k = /^topK (\d+)$/.exec(name)?.[1];
  if (k !== undefined) return topK(Number(k)).fold as (values: readonly unknown[]) => unknown;
  const combine = registeredReducers.get(name.replace(/^registered /, ""));
  return combine === undefined ? undefined : (values) => foldPairwise(name, values, combine as Combine);
}

/**
 * Returns the function that combines answers by an operation.
 *
 * @throws {TypeError} when `operation` is not an operation of `reduce`
 */
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
