/** Git cannot answer: it is not installed, there is no repository, or no such ref. The text says which, and what to do. */
export class GitError extends Error {
  override readonly name = "GitError";
}
