/** Runs git. All other modules run git through this function. */
import { spawnSync } from "node:child_process";
import { GitError } from "./git-error.js";

export interface GitOutcome {
  /** The exit code. 0 means success. */
  readonly code: number;
  readonly stdout: Buffer;
  /** The error output of git, on one line. */
  readonly complaint: string;
}

/**
 * @param folder the working directory; relative paths are relative to it
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
 * Returns the environment without git's own variables. Git hooks run with variables that name the repository by paths
 * relative to its top. These variables select a wrong repository in any other folder.
 */
function environment(): NodeJS.ProcessEnv {
  const { GIT_DIR, GIT_WORK_TREE, GIT_INDEX_FILE, GIT_PREFIX, ...rest } = process.env;
  return { ...rest, LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" };
}
