/** The options of `get`, of a context and of a reference. */

/** The options of `JobContext.get` and `ObjectRef.get`. */
export interface GetOptions {
  /** The longest time to wait, in milliseconds, from 0. Default: no limit. */
  readonly timeout?: number;
}
