/**
 * `viceroy lock merge`: merges two versions of a lock. Git runs it as a merge driver and passes the files. Without
 * arguments, the command merges the lock of the project that git has left in conflict.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { GitError, GitRepository, publishedRef } from "../../git/index.js";
import { type MergedText, mergeLockTexts, printActorId } from "../../lock/index.js";
import { writeAtomically } from "../../output/index.js";
import { lockDiagnostic } from "../../pipeline/lock-diagnostics.js";
import { exitCode, type Io } from "../io.js";
import type { Project } from "../project.js";

/** The arguments that git passes to a merge driver: `%O %A %B %L %P`. */
export interface MergeDriverArguments {
  /** The files with the three versions. The result is written to `ours`. */
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  /** The length of conflict markers, in characters. */
  readonly markSize: number;
  /** The path of the lock, relative to the folder in which git runs merge drivers. */
  readonly path: string;
}

/**
 * The default length of git's conflict markers. Git uses longer markers when it merges merge bases, whose result nobody
 * sees.
 */
const usualMarkSize = 7;

/** @returns 0 if the lock is merged, or 1 if it has conflict markers */
export function runMergeDriver({ base, ours, theirs, markSize, path: name }: MergeDriverArguments, io: Io): number {
  const repository = GitRepository.containing(process.cwd());
  const texts = {
    base: readFileSync(base, "utf8"),
    ours: readFileSync(ours, "utf8"),
    theirs: readFileSync(theirs, "utf8"),
    published: repository && readPublishedLock(repository, name),
  };
  const merged = mergeLockTexts(texts, (problem) => lockDiagnostic(problem).text, markSize);
  writeAtomically(ours, merged.text);
  if (markSize <= usualMarkSize) reportMerge(merged, name, io);
  return merged.conflicts.length === 0 ? exitCode.ok : exitCode.drift;
}

/** @throws ConfigError, GitError */
export async function mergeConflictedLock(project: Project, io: Io): Promise<number> {
  const { root, lock } = await project.config();
  const repository = GitRepository.open(root);
  const [ours, theirs] = [repository.stage(2, lock), repository.stage(3, lock)];
  if (ours === undefined || theirs === undefined) {
    io.err(
      `cannot merge ${lock}: git reports no conflict in it. If it has conflict markers, they were committed or added:`,
    );
    io.err(`restore it, for example by \`git checkout HEAD -- ${lock}\`, and run \`npx viceroy compile\`.`);
    return exitCode.usage;
  }
  const base = repository.stage(1, lock) ?? "";
  const texts = { base, ours, theirs, published: readPublishedLock(repository, lock) };
  const merged = mergeLockTexts(texts, (problem) => lockDiagnostic(problem).text);
  writeAtomically(path.join(root, lock), merged.text);
  reportMerge(merged, lock, io);
  if (merged.conflicts.length > 0) return exitCode.drift;
  io.out(`merged ${lock}. Now run \`npx viceroy compile\`, then \`git add ${lock}\`.`);
  return exitCode.ok;
}

/** Returns the published lock. The merge continues without it if it is unknown. */
function readPublishedLock(repository: GitRepository, lock: string): string | undefined {
  try {
    const ref = publishedRef(repository);
    return ref === undefined ? undefined : repository.read(ref, lock);
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}

function reportMerge({ moved, conflicts }: MergedText, lock: string, io: Io): void {
  for (const conflict of conflicts) io.err(`${lock}: ${conflict}`);
  if (conflicts.length > 0) {
    io.err(`${lock}: keep one line of each conflict and run \`npx viceroy compile\`. Both lines keep the id taken.`);
  }
  for (const { member, side, from, to, isActor } of moved) {
    const [old, now] = isActor ? [printActorId(from), printActorId(to)] : [from, to];
    const whose = side === "ours" ? "our" : "their";
    io.err(`${lock}: id ${old} of ${member}, assigned on ${whose} side, was taken: it is ${now} now`);
  }
  if (moved.length === 0) return;
  io.err(
    `${lock}: data that builds of that side have written with the old ${moved.length === 1 ? "id" : "ids"} can no longer be read`,
  );
  io.err(`${lock}: run \`npx viceroy compile\` to generate code with the new ${moved.length === 1 ? "id" : "ids"}`);
}
