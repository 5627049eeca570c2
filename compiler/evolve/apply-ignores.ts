/** Removes the breaking changes that a project has accepted in its config, where each one has a reason. */
import type { IgnoredBreak } from "../config/index.js";
import type { Break } from "./break-rule.js";

export interface IgnoreResult {
  readonly breaks: readonly Break[];
  /** The entries that matched no breaking change, because they are no longer needed or are misspelt. */
  readonly unused: readonly IgnoredBreak[];
}

/** Splits breaking changes and entries. One entry ignores every finding of one rule at one place. */
export function applyIgnores(breaks: readonly Break[], ignored: readonly IgnoredBreak[]): IgnoreResult {
  const covers = (entry: IgnoredBreak, found: Break) => entry.code === found.code && entry.place === found.place;
  return {
    breaks: breaks.filter((found) => ignored.every((entry) => !covers(entry, found))),
    unused: ignored.filter((entry) => breaks.every((found) => !covers(entry, found))),
  };
}
