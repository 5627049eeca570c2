/**
 * Which ref holds what others already use. In a pull request's check it is the branch that the request is for; else the
 * remote's default branch, or the one called main or master. Not the upstream of the current branch: that is where
 * unfinished work is pushed to, and its ids may still be moved by a merge.
 */
import type { GitRepository } from "./repository.js";

/** @returns undefined if the repository has none of them, as a clone of one commit */
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
