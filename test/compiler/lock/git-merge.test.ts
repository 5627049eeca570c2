/** Merges locks of real branches with git and the built command, as a team does. */
import { spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { addFiles, read } from "../folder.js";
import { gitEnvironment, TestRepository } from "../git/repository.js";

const cli = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

/** Fields in the order of the source: far enough apart that git merges the source by itself. */
function schema(fields: { readonly first?: string; readonly last?: string; readonly ttl?: string } = {}): string {
  const doc = ["  /**", "   * How it is found.", "   * Never empty.", "   */"];
  const line = (text: string | undefined) => (text === undefined ? [] : [`  ${text};`]);
  return [
    "export interface Entry {",
    ...line(fields.first),
    ...doc,
    "  key: string;",
    ...line(fields.last),
    "}",
    "",
    "export interface Life {",
    ...line(fields.ttl ?? "ttl: number"),
    "}",
    "",
  ].join("\n");
}

class Project extends TestRepository {
  /** The folder of the project, relative to the repository. */
  readonly #folder: string;

  constructor(withDriver: boolean, folder = ".") {
    super();
    this.#folder = folder;
    this.add({
      "package.json": '{ "name": "shop", "type": "module" }',
      "viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts" };\n',
      "schemas/entry.ts": schema(),
      ".gitignore": "generated/\n.viceroy/\n",
    });
    this.compile();
    if (withDriver) expect(this.viceroy("lock", "install").code).toBe(0);
    this.commit("locked");
  }

  viceroy(...args: readonly string[]): { readonly code: number | null; readonly output: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
      cwd: this.root,
      env: gitEnvironment,
      encoding: "utf8",
    });
    return { code: status, output: stdout + stderr };
  }

  compile(): void {
    const { code, output } = this.viceroy("compile");
    expect(output).not.toContain("error");
    expect(code).toBe(0);
  }

  /** Changes the schema, compiles, commits. */
  change(fields: Parameters<typeof schema>[0]): void {
    this.add({ "schemas/entry.ts": schema(fields) });
    this.compile();
    this.commit(JSON.stringify(fields));
  }

  checkout(branch: string, ...options: readonly string[]): void {
    this.git("checkout", "--quiet", ...options, branch);
  }

  add(files: Readonly<Record<string, string>>): void {
    addFiles(this.root, files);
  }

  get root(): string {
    return path.join(this.folder, this.#folder);
  }

  get lock(): readonly string[] {
    return read(this.root, "viceroy.lock").trimEnd().split("\n").slice(1);
  }
}

/**
 * A branch that adds `owner` at the end, and main, which has added `size` at the top.
 * @param times of the commits of both branches
 */
function twoBranches(withDriver: boolean, folder?: string, times: { work?: string; main?: string } = {}): Project {
  const project = new Project(withDriver, folder);
  project.checkout("work", "-b");
  project.time = times.work;
  project.change({ last: "owner: string" });
  project.checkout("main");
  project.time = times.main;
  project.change({ first: "size: number" });
  project.time = undefined;
  return project;
}

const both = ["message Entry in schemas/entry next=4", "  1 key string", "  2 size double", "  3 owner string"];

test("a merge of main into a branch keeps main's id, and moves and names the id of the branch", () => {
  const project = twoBranches(true);
  project.checkout("work");
  const { code, output } = project.try("merge", "main", "--no-edit");
  expect(output).toContain("viceroy.lock: id 2 of Entry.owner, assigned on our side, was taken: it is 3 now");
  expect(output).toContain("data that builds of that side have written with the old id can no longer be read");
  expect(code).toBe(0);
  expect(project.lock.slice(0, 4)).toEqual(both);
  expect(project.viceroy("compile").code).toBe(0);
  expect(project.git("status", "--porcelain")).toBe("");
  expect(project.viceroy("compile", "--check").code).toBe(0);
});

test("a check against an unpublished branch reports an id that a merge has moved, and advises to keep it", () => {
  const project = twoBranches(true);
  project.checkout("work");
  project.checkout("more", "-b");
  expect(project.try("merge", "main", "--no-edit").code).toBe(0);
  project.compile();
  const { code, output } = project.viceroy("compile", "--check", "--base", "work");
  expect(output).toContain(
    "id 2 belonged to Entry.owner at work and belongs to Entry.size now: old data would be misread",
  );
  expect(output).toContain(
    "If `npx viceroy lock merge` has changed the id because a published branch uses it, keep the change",
  );
  expect(code).toBe(1);
  expect(project.viceroy("compile", "--check", "--base", "main").code).toBe(0);
  project.checkout("work");
  expect(project.try("merge", "more", "--no-edit").code).toBe(0);
  expect(project.viceroy("compile", "--check", "--base", "work").code).toBe(0);
});

test("a merge of a branch into main keeps main's id", () => {
  const project = twoBranches(true);
  const { code, output } = project.try("merge", "work", "--no-edit");
  expect(output).toContain("viceroy.lock: id 2 of Entry.owner, assigned on their side, was taken: it is 3 now");
  expect(code).toBe(0);
  expect(project.lock.slice(0, 4)).toEqual(both);
});

test("the merge driver works for a project in a subfolder whose name contains a space", () => {
  const project = twoBranches(true, "packages/the shop");
  project.checkout("work");
  const { code, output } = project.try("-C", "packages", "merge", "main", "--no-edit");
  expect(output).toContain(
    "packages/the shop/viceroy.lock: id 2 of Entry.owner, assigned on our side, was taken: it is 3 now",
  );
  expect(code).toBe(0);
  expect(project.lock.slice(0, 4)).toEqual(both);
  expect(project.viceroy("compile").code).toBe(0);
  expect(project.viceroy("compile", "--check", "--base", "main").code).toBe(0);
});

test("a rebase of a branch with several commits onto main keeps main's id", () => {
  const project = twoBranches(true);
  project.checkout("work");
  project.change({ last: "owner: string;\n  note?: string" });
  const { code, output } = project.try("rebase", "main");
  expect(output).toContain("id 2 of Entry.owner");
  expect(code).toBe(0);
  expect(project.lock.slice(0, 5)).toEqual([
    "message Entry in schemas/entry next=5",
    "  1 key string",
    "  2 size double",
    "  3 owner string",
    "  4 note string?",
  ]);
  project.compile();
  expect(project.git("status", "--porcelain")).toBe("");
});

const earlier = "2026-01-01T00:00:00Z";
const later = "2026-01-01T00:00:01Z";
/** Git orders the two common ancestors of branches that have merged each other by their times. */
const orders = [
  { newer: "main", times: { work: earlier, main: later } },
  { newer: "the branch", times: { work: later, main: earlier } },
];

test.each(orders)(
  "two branches that have merged each other and then add members merge again without conflict, with the newer ancestor on $newer",
  ({ times }) => {
    const project = twoBranches(true, ".", times);
    project.git("branch", "main-before");
    expect(project.try("merge", "work", "--no-edit").code).toBe(0);
    project.compile();
    project.change({ first: "size: number", last: "owner: string;\n  weight: number" });
    project.checkout("work");
    expect(project.try("merge", "main-before", "--no-edit").code).toBe(0);
    project.compile();
    project.change({ first: "age: number;\n  size: number", last: "owner: string" });
    const { code, output } = project.try("merge", "main", "--no-edit");
    expect(output).not.toContain("CONFLICT");
    expect(code).toBe(0);
    expect(project.lock.slice(0, 6)).toEqual([
      "message Entry in schemas/entry next=6",
      "  1 key string",
      "  2 size double",
      "  3 owner string",
      "  4 weight double",
      "  5 age double",
    ]);
    project.compile();
    expect(project.git("status", "--porcelain")).toBe("");
  },
);

test("two renames of one field are a git conflict with both lines in the lock, which the compiler reports", () => {
  const project = new Project(true);
  project.checkout("work", "-b");
  project.change({ ttl: "/** @was ttl */ expiry: number" });
  project.checkout("main");
  project.change({ ttl: "/** @was ttl */ lifetime: number" });
  const { code, output } = project.try("merge", "work", "--no-edit");
  expect(code).toBe(1);
  expect(output).toContain("viceroy.lock: Life.lifetime: renamed to lifetime on our side and to expiry on theirs");
  expect(output).toContain("viceroy.lock: keep one line of each conflict and run `npx viceroy compile`.");
  expect(project.lock.join("\n")).toContain(
    "<<<<<<< ours\n  1 lifetime double was=ttl\n=======\n  1 expiry double was=ttl\n>>>>>>> theirs",
  );
  expect(project.git("status", "--porcelain")).toContain("UU viceroy.lock");
  addFiles(project.folder, { "schemas/entry.ts": schema({ ttl: "expiry: number" }) });
  const compiled = project.viceroy("compile");
  expect(compiled.code).toBe(2);
  expect(compiled.output).toContain("error VC2012: two branches have changed the lock, and git could not merge it");
});

test("without the merge driver git reports a conflict, and `viceroy lock merge` resolves it afterwards", () => {
  const project = twoBranches(false);
  project.checkout("work");
  expect(project.try("merge", "main", "--no-edit").code).toBe(1);
  const compiled = project.viceroy("compile");
  expect(compiled.code).toBe(2);
  expect(compiled.output).toContain(
    "fix: Run `npx viceroy lock merge`. After `npx viceroy lock install`, git runs it in every merge.",
  );
  const merged = project.viceroy("lock", "merge");
  expect(merged.output).toContain("id 2 of Entry.owner, assigned on our side, was taken: it is 3 now");
  expect(merged.output).toContain("merged viceroy.lock. Now run `npx viceroy compile`, then `git add viceroy.lock`.");
  expect(merged.code).toBe(0);
  expect(project.lock.slice(0, 4)).toEqual(both);
  project.compile();
  project.commit("merged");
  const again = project.viceroy("lock", "merge");
  expect(again.code).toBe(3);
  expect(again.output).toContain("cannot merge viceroy.lock: git reports no conflict in it.");
});

test("`viceroy lock install` prints each setting that it writes, and keeps existing settings when run again", () => {
  const project = new Project(false);
  const first = project.viceroy("lock", "install");
  expect(first.output).toContain("wrote    .gitattributes: viceroy.lock merge=viceroy");
  expect(first.output).toContain(`set      merge.viceroy.driver to node ${cli} lock merge %O %A %B %L %P`);
  expect(project.viceroy("lock", "install").output).toBe("kept     .gitattributes\nkept     merge.viceroy.driver\n");
  expect(read(project.folder, ".gitattributes")).toBe("viceroy.lock merge=viceroy\n");
  // A viceroy that is installed in the project is referred to by a path that is valid in every working tree.
  addFiles(project.folder, { "node_modules/viceroy/dist/cli/viceroy.js": "" });
  expect(project.viceroy("lock", "install").output).toContain(
    "driver to node node_modules/viceroy/dist/cli/viceroy.js",
  );
  project.git("config", "--unset", "merge.viceroy.driver");
  expect(project.viceroy("doctor").output).toContain(
    "git does not merge the lock with viceroy lock merge in this clone",
  );
});
