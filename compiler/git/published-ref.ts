/**
 * Finds the ref of the published state. In the check of a pull request, it is the target branch. Otherwise it is the
 * default branch of the remote, or the branch `main` or `master`. It is not the upstream of the current branch:
 * unfinished work is pushed to the upstream, and a merge can still change its ids.
 */
import type { GitRepository } from "./repository.js";

/** @returns undefined if the repository has none of these refs, such as a clone of a single commit */
export function publishedRef(repository: GitRepository, environment = process.env): string | undefined {
  const asked = environment["GITHUB_BASE_REF"];
  const names = [
    ...(asked === undefined || asked === "" ? [] : [`origin/${asked}`]),
    "origin/HEAD",
    "origin/main",
    "origin/master",
    "main",
    "master",
  ];
  return names.find((name) => repository.findCommit(name) !== undefined);
}
