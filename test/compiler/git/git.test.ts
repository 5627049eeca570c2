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

test("files of a commit are listed and read with paths relative to the opened folder", () => {
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

test("mergeBase finds the commit from which two branches started", () => {
  const made = new TestRepository({ a: "1" });
  const base = made.git("rev-parse", "HEAD").trim();
  made.git("checkout", "--quiet", "-b", "work");
  made.commit("work", { b: "1" });
  made.git("checkout", "--quiet", "main");
  made.commit("main", { c: "1" });
  expect(GitRepository.open(made.folder).mergeBase("main", "work")).toBe(base);
});

test.each(["2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z"])(
  "of two branches that have merged each other, mergeBase finds the commit to which the second has pointed: %s",
  (time) => {
    const made = new TestRepository({ a: "1" });
    made.git("checkout", "--quiet", "-b", "work");
    made.time = time;
    const work = made.commit("work", { b: "1" });
    made.git("checkout", "--quiet", "main");
    made.time = "2026-01-02T00:00:00Z";
    const main = made.commit("main", { c: "1" });
    made.git("merge", "--quiet", "--no-edit", "work");
    made.git("checkout", "--quiet", "work");
    made.git("merge", "--quiet", "--no-edit", main);
    const repository = GitRepository.open(made.folder);
    expect(repository.mergeBase("work", "main")).toBe(main);
    expect(repository.mergeBase("main", "work")).toBe(work);
  },
);

test("a name that is no commit, such as an option, is refused with an error that contains the name", () => {
  const { folder } = new TestRepository({ a: "1" });
  const repository = GitRepository.open(folder);
  expect(errorOf(() => repository.files("nowhere"))).toBe(`there is no commit "nowhere" in ${folder}`);
  expect(errorOf(() => repository.commit("--all"))).toBe(`there is no commit "--all" in ${folder}`);
  expect(errorOf(() => repository.commit(""))).toBe(`there is no commit "" in ${folder}`);
});

test("errors say when branches have no common commit and when a clone has no complete history", () => {
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

test("errors say when a folder is in no repository and when git is not installed", () => {
  const folder = folderWith({});
  expect(GitRepository.containing(folder)).toBeUndefined();
  expect(errorOf(() => GitRepository.open(folder))).toBe(`${folder} is not in a git repository`);
  mkdirSync(path.join(folder, ".git"));
  vi.stubEnv("PATH", "/nowhere");
  expect(errorOf(() => GitRepository.open(folder).commit("HEAD"))).toBe(
    "cannot run git: it is not installed, or not on PATH",
  );
});

test("environment variables that git sets in hooks do not change which repository is read", () => {
  const made = new TestRepository({ "app/a.ts": "1" });
  vi.stubEnv("GIT_DIR", ".git");
  vi.stubEnv("GIT_INDEX_FILE", ".git/index");
  expect(GitRepository.open(path.join(made.folder, "app")).files("HEAD")).toEqual(["a.ts"]);
});

test("publishedRef is the target branch of a pull request, else the remote's default branch, else main", () => {
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
