/**
 * Merges the texts of locks. The result either passes all checks of a lock, or has conflict markers and reasons. A
 * wrong result never passes as a merge.
 */
import { markConflict, takeFirstSides } from "../conflict-markers.js";
import type { Lock } from "../lock.js";
import type { LockProblem } from "../lock-problem.js";
import { parseLock } from "../parse.js";
import { printLock } from "../print.js";
import { mergeLocks } from "./merge-locks.js";
import type { LockConflict, MovedId } from "./merge-result.js";
import { blockKey } from "./pair-blocks.js";

export interface LockTexts {
  /** The text of the common ancestor; empty if there is none. */
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  /** The text of the published lock; undefined if it is unknown. */
  readonly published: string | undefined;
}

export interface MergedText {
  readonly text: string;
  readonly moved: readonly MovedId[];
  /** The reasons of the conflicts, as sentences. Empty if the merge has succeeded. */
  readonly conflicts: readonly string[];
}

/**
 * @param describe returns the text of a problem of a lock
 * @param markSize the length of conflict markers, in characters
 */
export function mergeLockTexts(
  { base, ours, theirs, published }: LockTexts,
  describe: (problem: LockProblem) => string,
  markSize = 7,
): MergedText {
  const because = (what: string, text: string) => unreadableBecause(what, text, describe);
  const unreadable = [
    ...Object.entries({ ours, theirs }).flatMap(([side, text]) => because(`the lock of ${side}`, text)),
    // If there are several merge bases, git merges them first. The result can contain conflicts, which belong to the
    // branches.
    ...because("the common base", takeFirstSides(base)),
  ];
  const giveUp = (conflicts: readonly string[]): MergedText => {
    const text = markConflict(linesOf(ours), linesOf(theirs), markSize).join("\n");
    return { text: `${text}\n`, moved: [], conflicts };
  };
  if (unreadable.length > 0) return giveUp(unreadable);
  const merged = mergeLocks({
    base: lockOf(takeFirstSides(base)),
    ours: lockOf(ours),
    theirs: lockOf(theirs),
    ...(published !== undefined && { published: lockOf(published) }),
  });
  const text = printLock(merged.lock);
  const { lock, problems } = parseLock("", text);
  if (problems.length > 0)
    return giveUp(
      problems.map((problem) => `the merged lock has an error on line ${problem.at.line}: ${describe(problem)}`),
    );
  return {
    text: withConflicts(text, lock, merged.conflicts, markSize),
    moved: merged.moved,
    conflicts: merged.conflicts.map(({ member, why }) => `${member}: ${why}`),
  };
}

function unreadableBecause(what: string, text: string, describe: (problem: LockProblem) => string): readonly string[] {
  if (text.trim() === "") return [];
  return parseLock("", text).problems.map((problem) => {
    return `${what} has an error on line ${problem.at.line}: ${describe(problem)}`;
  });
}

/**
 * Parses a lock. An empty text is an empty lock. Problems of the published lock are ignored, and the other locks have
 * been checked.
 */
function lockOf(text: string): Lock {
  return parseLock("", text).lock;
}

function withConflicts(text: string, lock: Lock, conflicts: readonly LockConflict[], markSize: number): string {
  const replaced = new Map(conflicts.map((conflict) => [lineOf(lock, conflict), conflict]));
  const lines = text.split("\n").flatMap((line, i) => {
    const conflict = replaced.get(i + 1);
    return conflict === undefined ? [line] : markConflict([conflict.ours], [conflict.theirs], markSize);
  });
  return lines.join("\n");
}

function lineOf(lock: Lock, { block, id }: LockConflict): number | undefined {
  const found = lock.blocks.find((candidate) => blockKey(candidate) === blockKey(block));
  return id === undefined ? found?.line : found?.entries.find((entry) => entry.id === id)?.line;
}

function linesOf(text: string): readonly string[] {
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}
