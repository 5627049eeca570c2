/** The comparison of the lock with the published one: what `compile --check` reports, and when it reports nothing. */
import { rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type CompileOptions, compile } from "../../../compiler/cli/commands/compile.js";
import { rename } from "../../../compiler/cli/commands/rename.js";
import { Project } from "../../../compiler/cli/project.js";
import { GitError } from "../../../compiler/git/index.js";
import { lockHeader } from "../../../compiler/lock/print.js";
import { addFiles, folderWith, read, TestIo } from "../folder.js";
import { TestRepository } from "../git/repository.js";

const files = {
  "package.json": '{ "name": "shop", "type": "module" }',
  "viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts" };\n',
  "schemas/a.ts": "export interface A {\n  name: string;\n  age: number;\n}\n",
  ".gitignore": "generated/\n.viceroy/\n",
};

async function run(folder: string, options: Partial<CompileOptions> = {}) {
  const io = new TestIo();
  const code = await compile(new Project(folder), { check: false, json: true, draft: false, ...options }, io);
  const found = io.lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
  return { code, found, codes: found.map((it) => it.code), out: io.lines };
}

/** A project whose lock has a tombstone, committed on main. */
async function withTombstone(): Promise<TestRepository> {
  const made = new TestRepository(files);
  await run(made.folder);
  addFiles(made.folder, { "schemas/a.ts": "export interface A {\n  name: string;\n}\n" });
  await run(made.folder);
  expect(read(made.folder, "viceroy.lock")).toContain("  2 -age double\n");
  made.commit("locked");
  return made;
}

/** Deletes the tombstone, as a developer might who wants to use the number again. */
function forget(folder: string): void {
  const lock = read(folder, "viceroy.lock");
  addFiles(folder, { "viceroy.lock": lock.replace("next=3", "next=2").replace("  2 -age double\n", "") });
}

test("a deleted tombstone is a warning of compile and an error of the check until it is restored", async () => {
  const { folder } = await withTombstone();
  const whole = read(folder, "viceroy.lock");
  forget(folder);
  expect(await run(folder)).toMatchObject({ code: 0, found: [{ code: "VC2013", severity: "warning" }] });
  const checked = await run(folder, { check: true });
  expect(checked).toMatchObject({
    code: 1,
    found: [
      {
        code: "VC2013",
        severity: "error",
        line: 2,
        fix: "Restore, below `message A in schemas/a next=2`: `  2 -age double`",
      },
    ],
  });
  addFiles(folder, { "viceroy.lock": whole });
  expect(await run(folder, { check: true })).toMatchObject({ code: 0, found: [] });
});

test("the check reports a missing block, actor id and parameter with the lines to restore", async () => {
  const store = "actor Store in schemas/a 0x00000007 next=2";
  const entries = ["  0 new next=1 () -> void", "  1 get next=3 (1 key: string, 2 -limit: int32) -> void"];
  const lock = (...lines: readonly string[]) => `${[lockHeader, ...lines].join("\n")}\n`;
  const { folder } = new TestRepository({
    ...files,
    "viceroy.lock": lock(store, ...entries, "-message B in schemas/b next=2", "  1 size double"),
    "schemas/a.ts":
      'import type { Actor } from "viceroy/schema";\nexport interface Store extends Actor {\n  get(key: string): void;\n}\n',
  });
  const changed = entries.map((line) => line.replace("next=3", "next=2").replace(", 2 -limit: int32", ""));
  addFiles(folder, { "viceroy.lock": lock(store.replace("07", "08"), ...changed) });
  const { found } = await run(folder, { check: true });
  expect(
    found.filter(({ code }) => code === "VC2013").map(({ line, text, fix }) => [line, text.split(":")[0], fix]),
  ).toEqual([
    [
      1,
      "message B in schemas/b, with all its ids, has vanished from the lock since main",
      "Restore, anywhere between other blocks: \n-message B in schemas/b next=2\n  1 size double\n",
    ],
    [
      2,
      "id 0x00000007 of actor Store has vanished from the lock since main",
      `Restore, in place of \`${store.replace("07", "08")}\`: \`${store}\``,
    ],
    [
      4,
      "id 2 of Store.get(limit) has vanished from the lock since main",
      "Restore, between the parentheses of `1 get next=2 (1 key: string) -> void`: `2 -limit: int32`",
    ],
  ]);
});

test("the check ignores a removed id that only the current branch has had", async () => {
  const made = await withTombstone();
  made.git("checkout", "--quiet", "-b", "work");
  addFiles(made.folder, { "schemas/a.ts": "export interface A {\n  name: string;\n  note: string;\n}\n" });
  await run(made.folder);
  made.commit("note");
  made.git("checkout", "main", "--", "viceroy.lock");
  addFiles(made.folder, { "schemas/a.ts": "export interface A {\n  name: string;\n}\n" });
  await run(made.folder);
  expect(await run(made.folder, { check: true })).toMatchObject({ code: 0, found: [] });
  expect(await run(made.folder, { check: true, base: "work" })).toMatchObject({ code: 1, codes: ["VC2013"] });
});

test("the base of the comparison can be another commit or none, and an unknown commit is an error", async () => {
  const made = await withTombstone();
  made.git("tag", "v1");
  forget(made.folder);
  made.commit("forgotten");
  await run(made.folder);
  expect(await run(made.folder, { check: true })).toMatchObject({ code: 0, found: [] });
  expect(await run(made.folder, { check: true, base: "v1" })).toMatchObject({ code: 1, codes: ["VC2013"] });
  expect(await run(made.folder, { check: true, base: false })).toMatchObject({ code: 0, found: [] });
  for (const check of [true, false]) {
    await expect(run(made.folder, { check, base: "v2" })).rejects.toThrow(
      new GitError(`there is no commit "v2" in ${made.folder}`),
    );
  }
});

test("the check compares an unchanged project too, because the published lock may have changed", async () => {
  const made = await withTombstone();
  forget(made.folder);
  made.commit("forgotten");
  await run(made.folder);
  expect((await run(made.folder, { json: false })).out).toEqual(["Nothing to do: generated code is up to date."]);
  made.git("update-ref", "refs/remotes/origin/main", "HEAD~1");
  expect(await run(made.folder, { check: true })).toMatchObject({ code: 1, codes: ["VC2013"] });
});

test("the check passes without git or a published lock, but a given base needs a git repository", async () => {
  const folder = folderWith(files);
  await run(folder);
  expect(await run(folder, { check: true })).toMatchObject({ code: 0, found: [] });
  await expect(run(folder, { check: true, base: "main" })).rejects.toThrow(`${folder} is not in a git repository`);
  // A given base is resolved even if nothing has changed and no check was requested.
  await expect(run(folder, { base: "main" })).rejects.toThrow(`${folder} is not in a git repository`);
  const made = new TestRepository(files);
  await run(made.folder);
  expect(await run(made.folder, { check: true })).toMatchObject({ code: 0, found: [] });
  expect(await run(made.folder, { check: true, base: "main" })).toMatchObject({ code: 0, found: [] });
});

test("the check warns of a possible rename that compile took for a new field unless a tag decides it", async () => {
  const { folder } = await withTombstone();
  const edited = (text: string) => addFiles(folder, { "schemas/a.ts": `export interface A {\n${text}}\n` });
  const lock = read(folder, "viceroy.lock");
  edited("  title: string;\n");
  expect(await run(folder, { check: true })).toMatchObject({ code: 1 });
  // The run of compile decides that the field is new.
  expect((await run(folder)).codes).toEqual(["VC2007"]);
  expect((await run(folder)).codes).toEqual([]);
  expect(await run(folder, { check: true })).toMatchObject({
    code: 0,
    found: [{ code: "VC2015", severity: "warning", file: "schemas/a.ts", line: 2 }],
  });
  edited("  /** @id 3 */\n  title: string;\n");
  await run(folder);
  expect(await run(folder, { check: true })).toMatchObject({ code: 0, found: [] });
  edited("  /** @retired */\n  name: string;\n  title: string;\n");
  await run(folder);
  expect(await run(folder, { check: true })).toMatchObject({ code: 0, found: [] });
  addFiles(folder, { "viceroy.lock": lock });
  edited("  /** @was name */\n  title: string;\n");
  expect((await run(folder)).codes).toEqual([]);
  expect(read(folder, "viceroy.lock")).toContain("  1 title string was=name\n");
  expect(await run(folder, { check: true })).toMatchObject({ code: 0, found: [] });
});

test("the diagnostic of an ambiguous rename names a command for each answer", async () => {
  const { folder } = await withTombstone();
  rmSync(path.join(folder, ".git"), { recursive: true });
  addFiles(folder, { "schemas/a.ts": "export interface A {\n  title: string;\n}\n" });
  const { code, found } = await run(folder, { check: true });
  expect(code).toBe(1);
  expect(found.find((it) => it.code === "VC2007")).toMatchObject({
    severity: "error",
    fix:
      "If it is, write `@was name` above title, or run `npx viceroy rename A.name title`. " +
      "If title is new, `npx viceroy compile` assigns it a new id.",
  });
  const io = new TestIo();
  expect(await rename(new Project(folder), "A.name", "title", io)).toBe(0);
  expect(io.lines[0]).toBe("renamed A.name to title in viceroy.lock; the schema already has the new name");
  expect(read(folder, "viceroy.lock")).toContain("  1 title string was=name\n");
  expect(await run(folder, { check: true })).toMatchObject({ code: 0, found: [] });
  expect(await rename(new Project(folder), "A.name", "title", io)).toBe(3);
  expect(io.errors).toContain("cannot rename A.name: A has no member name; it has title");
});
