/** Real git repositories in temporary folders, the same whatever the machine's configuration says. */
import { execFileSync, spawnSync } from "node:child_process";
import { addFiles, folderWith } from "../folder.js";

const identity = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Test",
  GIT_AUTHOR_EMAIL: "test@example.com",
  GIT_COMMITTER_NAME: "Test",
  GIT_COMMITTER_EMAIL: "test@example.com",
};

export const gitEnvironment: NodeJS.ProcessEnv = { ...process.env, ...identity };

export class TestRepository {
  readonly folder: string;
  /** The time of the next commits: `2026-01-01T00:00:00Z`. The current time, if it is undefined. */
  time: string | undefined;

  /** @param given files of the first commit, or the folder of a repository that is there */
  constructor(given: Readonly<Record<string, string>> | string = {}) {
    this.folder = typeof given === "string" ? given : folderWith({});
    if (typeof given === "string") return;
    this.git("init", "--quiet", "--initial-branch=main");
    if (Object.keys(given).length > 0) this.commit("first", given);
  }

  /** @throws if git fails, with what it printed */
  git(...args: readonly string[]): string {
    return execFileSync("git", args, { cwd: this.folder, env: this.#environment, encoding: "utf8", stdio: "pipe" });
  }

  /** For what may fail. */
  try(...args: readonly string[]): { readonly code: number | null; readonly output: string } {
    const { status, stdout, stderr } = spawnSync("git", args, {
      cwd: this.folder,
      env: this.#environment,
      encoding: "utf8",
    });
    return { code: status, output: stdout + stderr };
  }

  commit(message: string, files: Readonly<Record<string, string>> = {}): string {
    addFiles(this.folder, files);
    this.git("add", "--all");
    this.git("commit", "--quiet", "--allow-empty", "--message", message);
    return this.git("rev-parse", "HEAD").trim();
  }

  get #environment(): NodeJS.ProcessEnv {
    return this.time === undefined ? gitEnvironment : { ...gitEnvironment, GIT_COMMITTER_DATE: this.time };
  }
}
