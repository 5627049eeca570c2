/** The options of `JobContext.wait`. */

/** The options of `JobContext.wait`. */
export interface WaitOptions {
  /** The number of results to wait for, from 1. Default: 1. */
  readonly count?: number;
  /** The longest time to wait, in milliseconds. With 0, only results that are there count. Default: no limit. */
  readonly timeout?: number;
}
