/**
 * The lock compared with the one that others use already: with the commit that the current branch and a published one have
 * in common. Ids that vanish without a tombstone, by hand or by a bad merge, are found by nothing else.
 */
import type { Config } from "../config/index.js";
import { type Diagnostic, diagnostic } from "../diagnostics/index.js";
import { GitError, GitRepository, publishedRef } from "../git/index.js";
import { changesSince, type Lock, type LockChange, parseLock } from "../lock/index.js";
import type { Schema } from "../model/index.js";
import { declarationMembers } from "./declaration-members.js";

export interface BaseLock {
  /** What it was asked for by: `origin/main`. */
  readonly ref: string;
  readonly lock: Lock;
  readonly text: string;
}

/**
 * @param asked a ref; undefined: what is published, as far as that can be told
 * @param current the text of the lock as it stands on disk; undefined: there is none
 * @returns undefined if there is nothing to compare with, or it is the same
 * @throws GitError if a ref was asked for and cannot be used
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
    // No history, no answer. Nobody has asked.
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
  if (problems.length > 0) throw new GitError(`cannot read ${file} as it was in the commit that HEAD and ${ref} share`);
  return { ref, lock, text };
}

/**
 * @param lock as it stands on disk
 * @param file its path
 * @param declared undefined when the schemas have not been read: they are as the lock says
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
      // Who writes a tombstone or a number into the source has said that it is new.
      if (old?.tags.retired || young?.tags.id !== undefined) return [];
      return [diagnostic("VC2015", young?.at ?? at, { of, removed, added, ref, file })];
    }
  }
}
