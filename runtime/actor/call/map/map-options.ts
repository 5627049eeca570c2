/** The options of `map`, the progress that it reports, and their checks. */
import { describeValue } from "../../../../shared/text/describe-value.js";
import { checkOptionNames } from "../../../shape/index.js";

/** The items of `map`: an array, a generator, or any other iterable, synchronous or not. It may be endless. */
export type MapItems<I> = Iterable<I> | AsyncIterable<I>;

/** The items that an endpoint with the arguments `A` can take one at a time. `never` if it needs several arguments. */
export type SingleArgument<A extends unknown[]> = [A[0]] extends A ? A[0] : never;

/** The progress of a `map`. */
export interface MapProgress {
  /** The number of items that have been answered, those with an error included. */
  readonly done: number;
  /** The number of items that actors have been given and have not answered. */
  readonly inFlight: number;
  /** The number of times that an item was given to an actor again, because its actor had failed or its time was over. */
  readonly retried: number;
}

/** The options of `map` and `mapSettled`. */
export interface MapOptions {
  /** The number of items that each actor is given at a time, from 1 to 65,536. Default: 2, so that no actor is idle. */
  readonly inFlight?: number;
  /**
   * Whether the results have the order of the items. If not, they come in the order in which they arrive, so that one
   * slow item holds up nothing. Results that wait for an earlier one are kept: at most 1,024, or four for each place if
   * that is more. Use false if the results are large. Default: true.
   */
  readonly ordered?: boolean;
  /**
   * The largest number of attempts for each item, the first one included, on `@idempotent` endpoints only. An item is
   * given to an actor again, a living one, when its actor has failed or the time of the call is over. Default: the
   * attempts of `with({ retry })`, or 3; endpoints that are not `@idempotent` make one attempt.
   */
  readonly retry?: number;
  /** When aborted, the calls under way are cancelled, and the loop is left by the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Is called after each answer. What it throws ends the loop. */
  readonly onProgress?: (progress: MapProgress) => void;
}

/** The options of `map` for endpoints with several arguments, and for items that are not arguments. */
export interface MapOptionsWithArgs<I, A extends unknown[]> extends MapOptions {
  /** Returns the arguments of the call for one item. It is called again for each further attempt. */
  readonly args: (item: I) => A;
}

const DEFAULT_IN_FLIGHT = 2;
const LARGEST_IN_FLIGHT = 65_536;
const DEFAULT_ATTEMPTS = 3;

const optionNames: readonly (keyof MapOptionsWithArgs<unknown, unknown[]>)[] = [
  "inFlight",
  "ordered",
  "retry",
  "signal",
  "onProgress",
  "args",
];

/** The options of one `map`, checked and complete. */
export interface CheckedMapOptions {
  readonly inFlight: number;
  readonly ordered: boolean;
  readonly attempts: number;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: MapProgress) => void) | undefined;
  readonly args: (item: unknown) => readonly unknown[];
}

/** What `map` needs to know of the endpoint. */
export interface MappedEndpoint {
  /** The mesh and the endpoint: `counters.value`. */
  readonly label: string;
  readonly isIdempotent: boolean;
  /** The attempts that `with({ retry })` allows. Undefined if it was not used. */
  readonly attempts: number | undefined;
}

/**
 * Checks the options of `map`.
 *
 * @throws {TypeError} when an option is unknown or has a wrong type, or `retry` is given for an endpoint without
 *   `@idempotent`
 * @throws {RangeError} when a number is out of range
 */
export function checkMapOptions(endpoint: MappedEndpoint, options: MapOptions): CheckedMapOptions {
  const failed = `cannot map ${endpoint.label}`;
  checkOptionNames(failed, options, optionNames);
  const { inFlight, ordered, retry, signal, onProgress, args } = options as Partial<
    MapOptionsWithArgs<unknown, unknown[]>
  >;
  checkCount(failed, "inFlight", inFlight, LARGEST_IN_FLIGHT);
  checkCount(failed, "retry", retry, Number.MAX_SAFE_INTEGER);
  if (retry !== undefined && !endpoint.isIdempotent) throw new TypeError(`${failed}: it is not @idempotent, got retry`);
  checkType(failed, "ordered", "true or false", ordered === undefined || typeof ordered === "boolean", ordered);
  checkType(failed, "signal", "an AbortSignal", signal === undefined || signal instanceof AbortSignal, signal);
  checkType(
    failed,
    "onProgress",
    "a function",
    onProgress === undefined || typeof onProgress === "function",
    onProgress,
  );
  checkType(failed, "args", "a function", args === undefined || typeof args === "function", args);
  return {
    inFlight: inFlight ?? DEFAULT_IN_FLIGHT,
    ordered: ordered ?? true,
    attempts: endpoint.isIdempotent ? (retry ?? endpoint.attempts ?? DEFAULT_ATTEMPTS) : 1,
    signal,
    onProgress,
    args: args ?? ((item) => [item]),
  };
}

function checkCount(failed: string, option: string, value: number | undefined, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= most)) return;
  const range = most === Number.MAX_SAFE_INTEGER ? "of at least 1" : `from 1 to ${most}`;
  throw new RangeError(`${failed}: expected a whole number ${range} for ${option}, got ${describeValue(value)}`);
}

function checkType(failed: string, option: string, expected: string, isValid: boolean, value: unknown): void {
  if (!isValid) throw new TypeError(`${failed}: expected ${expected} for ${option}, got ${describeValue(value)}`);
}
