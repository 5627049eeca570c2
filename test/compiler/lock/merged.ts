/** Merges locks that tests write line by line. */
import { expect } from "vitest";
import { mergeLockTexts, parseLock } from "../../../compiler/lock/index.js";
import { lockHeader } from "../../../compiler/lock/print.js";
import { lockDiagnostic } from "../../../compiler/pipeline/lock-diagnostics.js";

/** A lock with a header and these lines. */
export function text(...lines: readonly string[]): string {
  return `${[lockHeader, ...lines].join("\n")}\n`;
}

/** Merges texts. `lines` is the merged text without its header. A merge without conflicts has passed the parser. */
export function merge(base: string, ours: string, theirs: string, published?: string) {
  const merged = mergeLockTexts({ base, ours, theirs, published }, (problem) => lockDiagnostic(problem).text);
  if (merged.conflicts.length === 0) expect(parseLock("", merged.text).problems).toEqual([]);
  return { ...merged, lines: merged.text.trimEnd().split("\n").slice(1) };
}
