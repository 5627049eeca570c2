export { GitError } from "./git-error.js";
export { publishedRef } from "./published-ref.js";
export { type GitFile, GitRepository } from "./repository.js";
