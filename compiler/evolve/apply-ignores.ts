/** Breaking changes that a project has agreed to, with the reason for each, in its config. */
import type { IgnoredBreak } from "../config/index.js";
import type { Break } from "./break-rule.js";

export interface IgnoreResult {
  readonly breaks: readonly Break[];
  /** Those that nothing was ignored for: they have done their work, or are misspelt. */
  readonly unused: readonly IgnoredBreak[];
}

/** One entry ignores all that a rule says of a place. */
export function applyIgnores(breaks: readonly Break[], ignored: readonly IgnoredBreak[]): IgnoreResult {
  const covers = (entry: IgnoredBreak, found: Break) => entry.code === found.code && entry.place === found.place;
  return {
    breaks: breaks.filter((found) => ignored.every((entry) => !covers(entry, found))),
    unused: ignored.filter((entry) => breaks.every((found) => !covers(entry, found))),
  };
}
