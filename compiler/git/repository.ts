/**
 * Reads the history of a project: commits by name, and files in commits. The only write access is `saveSetting`, which
 * changes the configuration of the repository. Paths are relative to the folder for which the repository was opened,
 * which can be any folder of the repository. They have forward slashes.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { GitError } from "./git-error.js";
import { type GitOutcome, runGit } from "./run-git.js";

export interface GitFile {
  readonly path: string;
  readonly text: string;
}

export class GitRepository {
  /** The absolute path of the folder. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Returns the repository that contains a folder, or undefined if there is none. In that case git is not run. */
  static containing(folder: string): GitRepository | undefined {
    const from = path.resolve(folder);
    for (let above = from; ; above = path.dirname(above)) {
      // `.git` is a file in worktrees and submodules, and a folder otherwise.
      if (existsSync(path.join(above, ".git"))) return new GitRepository(from);
      if (above === path.dirname(above)) return undefined;
    }
  }

  /** @throws GitError if no repository contains the folder */
  static open(folder: string): GitRepository {
    const repository = GitRepository.containing(folder);
    if (repository !== undefined) return repository;
    throw new GitError(`${path.resolve(folder)} is not in a git repository`);
  }

  /**
   * Returns the hash of the commit with a name such as `main`, `v1.2.0` or `HEAD~3`: 40 or 64 hexadecimal digits.
   * @throws GitError if there is no such commit
   */
  commit(ref: string): string {
    const found = this.findCommit(ref);
    if (found !== undefined) return found;
    throw new GitError(`there is no commit ${JSON.stringify(ref)} in ${this.folder}${this.#shallowHint()}`);
  }

  /** @throws GitError if git cannot be run */
  findCommit(ref: string): string | undefined {
    // A ref that begins with a hyphen would be an option of git.
    if (ref === "" || ref.startsWith("-")) return undefined;
    const { code, stdout } = this.#git("rev-parse", "--verify", "--quiet", `${ref}^{commit}`);
    return code === 0 ? stdout.toString().trim() : undefined;
  }

  /**
   * Returns the newest common ancestor of a commit and a branch. Branches that have merged each other have several
   * ones, none of which contains the others. Of these, the one that the branch has pointed to is returned, because git
   * orders them by their times, which say nothing about the branch.
   * @throws GitError if there is no common ancestor, or a commit does not exist
   */
  mergeBase(ref: string, branch: string): string {
    const { code, stdout, complaint } = this.#git("merge-base", "--all", this.commit(ref), this.commit(branch));
    if (code === 0) {
      const bases = lines(stdout);
      return (bases.length > 1 ? this.#pointedTo(branch, bases) : undefined) ?? (bases[0] as string);
    }
    const why = complaint === "" ? "there is none" : complaint;
    throw new GitError(`cannot find a common ancestor of ${ref} and ${branch}: ${why}${this.#shallowHint()}`);
  }

  /**
   * Returns the files of a commit below the folder, sorted.
   * @throws GitError if the commit does not exist
   */
  files(ref: string): readonly string[] {
    return this.#entries(ref).map(({ path: name }) => name);
  }

  /**
   * Returns the text of a file in a commit, or undefined if the commit has no such file.
   * @throws GitError if the commit does not exist
   */
  read(ref: string, file: string): string | undefined {
    return this.#blob(`${this.commit(ref)}:./${file}`);
  }

  /**
   * Returns all files of a commit for which `isMeant` returns true, with one run of git.
   * @throws GitError if the commit does not exist
   */
  readAll(ref: string, isMeant: (file: string) => boolean): readonly GitFile[] {
    const meant = this.#entries(ref).filter((entry) => isMeant(entry.path));
    if (meant.length === 0) return [];
    const { stdout } = this.#succeed(["cat-file", "--batch"], meant.map(({ object }) => `${object}\n`).join(""));
    let at = 0;
    return meant.map(({ path: name }) => {
      // The output has the form `<object> blob <size>`, a line break, the bytes, a line break.
      const end = stdout.indexOf(10, at);
      const size = Number(stdout.subarray(at, end).toString().split(" ")[2]);
      const text = stdout.subarray(end + 1, end + 1 + size).toString();
      at = end + 1 + size + 1;
      return { path: name, text };
    });
  }

  /**
   * Returns one version of a file in conflict, as the index stores it: 1 is the base, 2 is ours, 3 is theirs. Returns
   * undefined if the file is not in conflict or the version has no such file.
   * @throws GitError if git cannot be run
   */
  stage(side: 1 | 2 | 3, file: string): string | undefined {
    return this.#blob(`:${side}:./${file}`);
  }

  /** The absolute path of the top of the working tree. */
  get top(): string {
    return this.#succeed(["rev-parse", "--show-toplevel"]).stdout.toString().trim();
  }

  /** Returns the value of a setting, or undefined if it is not set. */
  setting(name: string): string | undefined {
    const { code, stdout } = this.#git("config", "--get", name);
    return code === 0 ? stdout.toString().trim() : undefined;
  }

  /** Writes a setting to the configuration of this repository. */
  saveSetting(name: string, value: string): void {
    this.#succeed(["config", "--local", name, value]);
  }

  /** Returns the newest of the commits to which a branch has pointed: the first parent of a merge is the branch. */
  #pointedTo(branch: string, commits: readonly string[]): string | undefined {
    const { stdout } = this.#succeed(["rev-list", "--first-parent", this.commit(branch)]);
    return lines(stdout).find((commit) => commits.includes(commit));
  }

  #blob(name: string): string | undefined {
    const { code, stdout } = this.#git("cat-file", "blob", name);
    return code === 0 ? stdout.toString() : undefined;
  }

  #entries(ref: string): readonly { readonly path: string; readonly object: string }[] {
    const { stdout } = this.#succeed(["ls-tree", "-r", "-z", this.commit(ref)]);
    return stdout
      .toString()
      .split("\0")
      .flatMap((line) => {
        const [, object, name] = /^\d+ blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
        return object === undefined || name === undefined ? [] : [{ path: name, object }];
      });
  }

  /** Returns a hint if the clone is shallow, since the missing history can be the reason for the error. */
  #shallowHint(): string {
    const { stdout } = this.#git("rev-parse", "--is-shallow-repository");
    if (stdout.toString().trim() !== "true") return "";
    return ". This clone has no complete history: fetch it (`git fetch --unshallow`; with actions/checkout, `fetch-depth: 0`)";
  }

  #git(...args: readonly string[]): GitOutcome {
    return runGit(this.folder, args);
  }

  #succeed(args: readonly string[], input?: string): GitOutcome {
    const outcome = runGit(this.folder, args, input);
    if (outcome.code === 0) return outcome;
    throw new GitError(`git ${args[0]} failed in ${this.folder}: ${outcome.complaint}`);
  }
}

function lines(stdout: Buffer): readonly string[] {
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
}
