/**
 * Compares the lock with the published one: that of the newest common commit of the current branch and a published
 * branch. Only this comparison finds ids that have vanished without a tombstone, after an edit by hand or a bad merge.
 */
import type { Config } from "../config/index.js";
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import { GitError, GitRepository, publishedRef } from "../git/index.js";
import { changesSince, type Lock, type LockChange, parseLock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import { declarationMembers } from "./declaration-members.js";

export interface BaseLock {
  /** The ref of the comparison: `origin/main`. */
  readonly ref: string;
  readonly lock: Lock;
  readonly text: string;
}

/**
 * @param asked the requested ref; undefined for the published ref, if it can be determined
 * @param current the text of the lock on disk; undefined if there is none
 * @returns undefined if there is no lock to compare with, or both are equal
 * @throws GitError if the requested ref cannot be used
 */
export function readBaseLock(
  config: Config,
  asked: string | undefined,
  current: string | undefined,
): BaseLock | undefined {
  if (asked !== undefined) return readLockAt(GitRepository.open(config.root), config.lock, asked, current);
  try {
    const repository = GitRepository.containing(config.root);
    if (repository === undefined) return undefined;
    const ref = publishedRef(repository);
    return ref === undefined ? undefined : readLockAt(repository, config.lock, ref, current);
  } catch (error) {
    // Without a requested ref, the comparison is optional.
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

function readLockAt(
  repository: GitRepository,
  file: string,
  ref: string,
  current: string | undefined,
): BaseLock | undefined {
  const text = repository.read(repository.mergeBase("HEAD", ref), file);
  if (text === undefined || text === current) return undefined;
  const { lock, problems } = parseLock(file, text);
  if (problems.length > 0) throw new GitError(`cannot read ${file} in the common ancestor of HEAD and ${ref}`);
  return { ref, lock, text };
}

/**
 * @param lock the lock on disk
 * @param file its path
 * @param declared the schemas; undefined if they have not been read because they match the lock
 */
export function historyDiagnostics(
  lock: Lock,
  file: string,
  base: BaseLock,
  declared: Schema | undefined,
): readonly Diagnostic[] {
  return changesSince(base.lock, lock).flatMap((change) => changeDiagnostic(change, file, base.ref, declared));
}

function changeDiagnostic(
  change: LockChange,
  file: string,
  ref: string,
  declared: Schema | undefined,
): readonly Diagnostic[] {
  const at = { file, line: change.line, column: 1 };
  switch (change.kind) {
    case "lost": {
      const { what, lines, where } = change;
      const text = lines.length === 1 ? `\`${lines[0]}\`` : `\n${lines.join("\n")}\n`;
      return [diagnostic("VC2013", at, { what, ref, lines: text, where })];
    }
    case "reused": {
      const { id, before, now, text } = change;
      return [diagnostic("VC2014", at, { id, before, now, ref, line: text })];
    }
    case "replaced": {
      const { of, removed, added } = change;
      const members = declared && declarationMembers(declared, of);
      const [old, young] = [members?.get(removed), members?.get(added)];
      // A tombstone or a number in the source states that the member is new.
      if (old?.tags.retired || young?.tags.id !== undefined) return [];
      return [diagnostic("VC2015", young?.at ?? at, { of, removed, added, ref, file })];
    }
  }
}
