/** Runs git. The one place that does. */
import { spawnSync } from "node:child_process";
import { GitError } from "./git-error.js";

export interface GitOutcome {
  /** 0: done. */
  readonly code: number;
  readonly stdout: Buffer;
  /** What git complained of, on one line. */
  readonly complaint: string;
}

/**
 * @param folder in which it runs; relative paths are relative to it
 * @throws GitError if git is not installed
 */
export function runGit(folder: string, args: readonly string[], input?: string): GitOutcome {
  const { error, status, stdout, stderr } = spawnSync("git", args, {
    cwd: folder,
    env: environment(),
    maxBuffer: 2 ** 30,
    ...(input !== undefined && { input }),
  });
  if (error !== undefined) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new GitError(
      isMissing ? "cannot run git: it is not installed, or not on PATH" : `cannot run git: ${error.message}`,
    );
  }
  const complaint = stderr.toString().trim().split("\n").at(-1) ?? "";
  return { code: status ?? 1, stdout, complaint: complaint.replace(/^fatal: /, "") };
}

/**
 * Hooks run with variables that name the repository by paths relative to its top, which mislead git in any other folder:
 * the repository is the one that the folder lies in.
 */
function environment(): NodeJS.ProcessEnv {
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_PREFIX, ...rest } = process.env;
  return { ...rest, LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" };
}
