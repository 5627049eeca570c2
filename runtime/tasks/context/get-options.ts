/** The options and the results of `JobContext.get`, for its signatures. */
import type { ObjectRef } from "../refs/object-ref.js";

export type { GetOptions } from "../refs/get-options.js";

/** The values of a list of references and values. */
export type Values<L extends readonly unknown[]> = {
  -readonly [I in keyof L]: L[I] extends ObjectRef<infer T> ? T : L[I];
};
