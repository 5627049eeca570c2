/** The options of one call of a client. */
import type { CallOptions } from "@connectrpc/connect";
import { describeValue } from "../../shared/text/describe-value.js";

/** The options of a call, for `with` of a method. */
export interface ClientOptions {
  /** Cancels the call, or leaves the stream. `context().signal` of the handler is aborted, too. */
  readonly signal?: AbortSignal;
  /**
   * The time limit of the call in milliseconds, above 0. The call then rejects with the code `DeadlineExceeded`, and
   * `context().signal` of the handler is aborted.
   */
  readonly timeout?: number;
  /** Headers of the request, by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Returns the options as Connect takes them.
 *
 * @throws RangeError if the timeout is not a number above 0
 */
export function connectOptions({ signal, timeout, headers }: ClientOptions): CallOptions {
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout > 0)) {
    throw new RangeError(`cannot use call options: expected a timeout above 0 ms, got ${describeValue(timeout)}`);
  }
  return {
    ...(signal !== undefined && { signal }),
    // Connect sends whole milliseconds.
    ...(timeout !== undefined && { timeoutMs: Math.ceil(timeout) }),
    ...(headers !== undefined && { headers: { ...headers } }),
  };
}
