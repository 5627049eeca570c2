/**
 * Thrown if git cannot answer: git is not installed, there is no repository, or the ref does not exist. The text
 * contains the reason and the solution.
 */
export class GitError extends Error {
  override readonly name = "GitError";
}
