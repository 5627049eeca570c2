export { GitError } from "./error.js";
export { publishedRef } from "./published.js";
export { type GitFile, GitRepository } from "./repository.js";
