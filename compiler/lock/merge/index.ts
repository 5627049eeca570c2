/** `viceroy lock merge`: merges two versions of a lock. */
export { mergeLocks } from "./merge-locks.js";
export type * from "./merge-result.js";
export { type MergedText, mergeLockTexts } from "./merge-texts.js";
