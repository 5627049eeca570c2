/** The options and the results of `JobContext.get`. */
import type { ObjectRef } from "../refs/object-ref.js";

/** The options of `JobContext.get`. */
export interface GetOptions {
  /** The longest time to wait, in milliseconds, from 0. Default: no limit. */
  readonly timeout?: number;
}

/** The values of a list of references and values. */
export type Values<L extends readonly unknown[]> = {
  -readonly [I in keyof L]: L[I] extends ObjectRef<infer T> ? T : L[I];
};
