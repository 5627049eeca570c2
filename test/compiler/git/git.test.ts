import { mkdirSync } from "node:fs";
import path from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { GitError, GitRepository, publishedRef } from "../../../compiler/git/index.js";
import { folderWith } from "../folder.js";
import { TestRepository } from "./repository.js";

afterEach(() => vi.unstubAllEnvs());

function errorOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof GitError) return error.message;
    throw error;
  }
  throw new Error("expected a GitError");
}

test("files of a commit are read as they were, relative to the folder that was asked about", () => {
  const made = new TestRepository({ "app/viceroy.lock": "one\n", "app/schemas/ä b.ts": "1\n\n", "other.ts": "x" });
  const first = made.git("rev-parse", "HEAD").trim();
  made.commit("second", { "app/viceroy.lock": "two\n", "app/empty.ts": "" });
  const app = GitRepository.open(path.join(made.folder, "app"));
  expect(app.files(first)).toEqual(["schemas/ä b.ts", "viceroy.lock"]);
  expect(app.read("HEAD~1", "viceroy.lock")).toBe("one\n");
  expect(app.read("HEAD", "./viceroy.lock")).toBe("two\n");
  expect(app.read("HEAD", "other.ts")).toBeUndefined();
  expect(app.readAll("main", (file) => file.endsWith(".ts"))).toEqual([
    { path: "empty.ts", text: "" },
    { path: "schemas/ä b.ts", text: "1\n\n" },
  ]);
});

test("the commit that two branches come from is found", () => {
  const made = new TestRepository({ a: "1" });
  const base = made.git("rev-parse", "HEAD").trim();
  made.git("checkout", "--quiet", "-b", "work");
  made.commit("work", { b: "1" });
  made.git("checkout", "--quiet", "main");
  made.commit("main", { c: "1" });
  expect(GitRepository.open(made.folder).mergeBase("main", "work")).toBe(base);
});

test("names that stand for nothing, options among them, are refused with the name", () => {
  const { folder } = new TestRepository({ a: "1" });
  const repository = GitRepository.open(folder);
  expect(errorOf(() => repository.files("nowhere"))).toBe(`there is no commit "nowhere" in ${folder}`);
  expect(errorOf(() => repository.commit("--all"))).toBe(`there is no commit "--all" in ${folder}`);
  expect(errorOf(() => repository.commit(""))).toBe(`there is no commit "" in ${folder}`);
});

test("branches without a common commit, and clones without history, are told as such", () => {
  const made = new TestRepository({ a: "1" });
  made.git("checkout", "--quiet", "--orphan", "apart");
  made.commit("apart", { b: "1" });
  const repository = GitRepository.open(made.folder);
  expect(errorOf(() => repository.mergeBase("main", "apart"))).toBe(
    "cannot find a common ancestor of main and apart: there is none",
  );
  const clone = path.join(folderWith({}), "clone");
  made.git("clone", "--quiet", "--depth=1", `file://${made.folder}`, clone);
  expect(errorOf(() => GitRepository.open(clone).commit("main~1"))).toBe(
    `there is no commit "main~1" in ${clone}. This clone has no complete history: fetch it (\`git fetch --unshallow\`; ` +
      "with actions/checkout, `fetch-depth: 0`)",
  );
});

test("outside of any repository, and without git, it says so", () => {
  const folder = folderWith({});
  expect(GitRepository.containing(folder)).toBeUndefined();
  expect(errorOf(() => GitRepository.open(folder))).toBe(`${folder} is not in a git repository`);
  mkdirSync(path.join(folder, ".git"));
  vi.stubEnv("PATH", "/nowhere");
  expect(errorOf(() => GitRepository.open(folder).commit("HEAD"))).toBe(
    "cannot run git: it is not installed, or not on PATH",
  );
});

test("variables of a hook do not mislead it", () => {
  const made = new TestRepository({ "app/a.ts": "1" });
  vi.stubEnv("GIT_DIR", ".git");
  vi.stubEnv("GIT_INDEX_FILE", ".git/index");
  expect(GitRepository.open(path.join(made.folder, "app")).files("HEAD")).toEqual(["a.ts"]);
});

test("what is published: the branch a pull request is for, the remote's default branch, main", () => {
  const origin = new TestRepository({ a: "1" });
  origin.git("branch", "release");
  const clone = path.join(folderWith({}), "clone");
  origin.git("clone", "--quiet", origin.folder, clone);
  const repository = GitRepository.open(clone);
  expect(publishedRef(repository, { GITHUB_BASE_REF: "release" })).toBe("origin/release");
  expect(publishedRef(repository, {})).toBe("origin/HEAD");
  expect(publishedRef(GitRepository.open(origin.folder), { GITHUB_BASE_REF: "" })).toBe("main");
  const empty = new TestRepository();
  expect(publishedRef(GitRepository.open(empty.folder), {})).toBeUndefined();
});
