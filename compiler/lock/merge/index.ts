/** `viceroy lock merge`: two versions of a lock become one. */
export { mergeLocks } from "./merge.js";
export type * from "./result.js";
export { type MergedText, mergeLockTexts } from "./text.js";
