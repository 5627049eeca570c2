/**
 * What a project's history holds: commits by name, and files as they were in them. Nothing is written but, when asked, the
 * repository's configuration. Paths are relative to the folder that the repository was opened for, which may be any folder
 * in it, and have forward slashes.
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
  /** Absolute. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The repository that a folder lies in. Undefined if it lies in none; then git is not even run. */
  static containing(folder: string): GitRepository | undefined {
    const from = path.resolve(folder);
    for (let above = from; ; above = path.dirname(above)) {
      // A file in worktrees and submodules, a folder otherwise.
      if (existsSync(path.join(above, ".git"))) return new GitRepository(from);
      if (above === path.dirname(above)) return undefined;
    }
  }

  /** @throws GitError if the folder lies in no repository */
  static open(folder: string): GitRepository {
    const repository = GitRepository.containing(folder);
    if (repository !== undefined) return repository;
    throw new GitError(`${path.resolve(folder)} lies in no git repository`);
  }

  /**
   * The commit that a name stands for: `main`, `v1.2.0`, `HEAD~3`. Forty hexadecimal digits, or 64.
   * @throws GitError if there is none of that name
   */
  commit(ref: string): string {
    const found = this.findCommit(ref);
    if (found !== undefined) return found;
    throw new GitError(`there is no commit ${JSON.stringify(ref)} in ${this.folder}${this.#shallowHint()}`);
  }

  /** @throws GitError if git cannot be run */
  findCommit(ref: string): string | undefined {
    // Options are not meant, whatever somebody calls a branch.
    if (ref === "" || ref.startsWith("-")) return undefined;
    const { code, stdout } = this.#git("rev-parse", "--verify", "--quiet", `${ref}^{commit}`);
    return code === 0 ? stdout.toString().trim() : undefined;
  }

  /**
   * The newest commit that both come from.
   * @throws GitError if they have none in common, or a name stands for nothing
   */
  mergeBase(ref: string, other: string): string {
    const { code, stdout, complaint } = this.#git("merge-base", this.commit(ref), this.commit(other));
    if (code === 0) return stdout.toString().trim();
    const why = complaint === "" ? "they have none in common" : complaint;
    throw new GitError(`cannot find the commit that ${ref} and ${other} come from: ${why}${this.#shallowHint()}`);
  }

  /**
   * The files of a commit below the folder, sorted.
   * @throws GitError if a name stands for nothing
   */
  files(ref: string): readonly string[] {
    return this.#entries(ref).map(({ path: name }) => name);
  }

  /**
   * The text of a file in a commit; undefined if it has no such file.
   * @throws GitError if the name stands for nothing
   */
  read(ref: string, file: string): string | undefined {
    return this.#blob(`${this.commit(ref)}:./${file}`);
  }

  /**
   * All files of a commit that `isMeant`, at once.
   * @throws GitError if the name stands for nothing
   */
  readAll(ref: string, isMeant: (file: string) => boolean): readonly GitFile[] {
    const meant = this.#entries(ref).filter((entry) => isMeant(entry.path));
    if (meant.length === 0) return [];
    const { stdout } = this.#succeed(["cat-file", "--batch"], meant.map(({ object }) => `${object}\n`).join(""));
    let at = 0;
    return meant.map(({ path: name }) => {
      // `<object> blob <size>`, a line break, the bytes, a line break.
      const end = stdout.indexOf(10, at);
      const size = Number(stdout.subarray(at, end).toString().split(" ")[2]);
      const text = stdout.subarray(end + 1, end + 1 + size).toString();
      at = end + 1 + size + 1;
      return { path: name, text };
    });
  }

  /**
   * One side of a file that is being merged, as the index holds it: 1 the base, 2 ours, 3 theirs. Undefined if the file is
   * not in conflict, or that side has no such file.
   * @throws GitError if git cannot be run
   */
  stage(side: 1 | 2 | 3, file: string): string | undefined {
    return this.#blob(`:${side}:./${file}`);
  }

  /** The top of the working tree, absolute. */
  get top(): string {
    return this.#succeed(["rev-parse", "--show-toplevel"]).stdout.toString().trim();
  }

  /** What the configuration says; undefined if nothing. */
  setting(name: string): string | undefined {
    const { code, stdout } = this.#git("config", "--get", name);
    return code === 0 ? stdout.toString().trim() : undefined;
  }

  /** Writes to the configuration of this repository alone. */
  saveSetting(name: string, value: string): void {
    this.#succeed(["config", "--local", name, value]);
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

  /** A clone without history has an answer that the user does not expect. */
  #shallowHint(): string {
    const { stdout } = this.#git("rev-parse", "--is-shallow-repository");
    if (stdout.toString().trim() !== "true") return "";
    return ". This clone has no history: fetch it (`git fetch --unshallow`; with actions/checkout, `fetch-depth: 0`)";
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
