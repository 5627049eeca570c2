/** `viceroy lock merge`: two versions of a lock become one. */
export { mergeLocks } from "./merge-locks.js";
export type * from "./merge-result.js";
export { type MergedText, mergeLockTexts } from "./merge-texts.js";
