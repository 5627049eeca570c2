/** `viceroy break` as a process, in a repository with a history. */
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { addFiles, folderWith, listFiles, read } from "../folder.js";

const binary = fileURLToPath(new URL("../../../dist/cli/viceroy.js", import.meta.url));

function viceroy(folder: string, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [binary, ...args], { cwd: folder, encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

function git(folder: string, ...args: readonly string[]): string {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  return execFileSync("git", [...identity, ...args], { cwd: folder, encoding: "utf8" });
}

const config = 'export default { schemas: "schemas/**/*.ts" };\n';
const tree = "export interface Tree {\n  name: string;\n  age: number;\n}\n";

describe("`viceroy break` against a commit", () => {
  let folder: string;

  beforeAll(() => {
    // The project is in a subfolder of the repository, as in a monorepo.
    const top = folderWith({ "README.md": "nothing\n" });
    git(top, "init", "-q", "-b", "main");
    git(top, "add", "-A");
    git(top, "commit", "-q", "-m", "nothing yet");
    folder = path.join(top, "packages/shop");
    addFiles(folder, { "package.json": '{ "name": "shop" }\n', "viceroy.config.ts": config, "schemas/tree.ts": tree });
    git(top, "add", "-A");
    git(top, "commit", "-q", "-m", "without a lock");
    expect(viceroy(folder, "compile").code).toBe(0);
    git(top, "add", "-A");
    git(top, "commit", "-q", "-m", "with a lock");
    addFiles(folder, { "schemas/tree.ts": tree.replace("age: number", "age?: string") });
    expect(viceroy(folder, "compile").code).toBe(0);
    git(top, "add", "-A");
    git(top, "commit", "-q", "-m", "broken");
  });

  test("reports each change with its place and leaves the working tree unchanged", () => {
    const before = listFiles(folder);
    expect(viceroy(folder, "break", "--against", "HEAD~1")).toEqual({
      code: 1,
      out: "",
      err: [
        "schemas/tree.ts:3:3 error VC5001 WIRE: Tree.age: its type was double and is string: neither side finds the other's value, which has another wire type",
        "  3 |   age?: string;",
        "    |   ^",
        "  fix: Add a member with the new type, under another name, and keep this one until nobody sends it.",
        "  see npx viceroy explain VC5001",
        "1 error",
        "",
      ].join("\n"),
    });
    expect(listFiles(folder)).toEqual(before);
    expect(git(folder, "status", "--porcelain")).toBe("");
  });

  test("prints findings as annotations in a GitHub workflow, with paths in the repository", () => {
    const { stdout } = spawnSync(process.execPath, [binary, "break", "--against", "HEAD~1"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, GITHUB_ACTIONS: "true", GITHUB_WORKSPACE: path.join(folder, "../..") },
    });
    expect(stdout).toMatch(
      /^::error file=packages\/shop\/schemas\/tree\.ts,line=3,col=3,title=VC5001.*::.*its type was double and is string/,
    );
  });

  test("prints each finding as one line of JSON with --json", () => {
    const { code, out } = viceroy(folder, "break", "--against", "HEAD~1", "--json");
    expect(code).toBe(1);
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      {
        code: "VC5001",
        severity: "error",
        file: "schemas/tree.ts",
        line: 3,
        column: 3,
        text: "Tree.age: its type was double and is string: neither side finds the other's value, which has another wire type",
        fix: "Add a member with the new type, under another name, and keep this one until nobody sends it.",
        class: "WIRE",
        place: "Tree.age",
      },
    ]);
  });

  test("reports no breaking changes against the current commit", () => {
    expect(viceroy(folder, "break", "--against", "HEAD")).toEqual({
      code: 0,
      out: "No breaking changes against HEAD.\n",
      err: "",
    });
  });

  test("counts only the classes that --class selects and refuses an unknown class", () => {
    expect(viceroy(folder, "break", "--against", "HEAD~1", "--class", "source,dangerous").code).toBe(0);
    expect(viceroy(folder, "break", "--against", "HEAD~1", "--class", "wire").code).toBe(1);
    expect(viceroy(folder, "break", "--against", "HEAD~1", "--class", "all")).toEqual({
      code: 3,
      out: "",
      err: 'cannot look for breaks: unknown class "all", expected WIRE, SOURCE, BEHAVIOUR, DANGEROUS, or several separated by commas\n',
    });
  });

  test.each([
    [
      "no such commit",
      "elsewhere",
      /^cannot compare with "elsewhere": it is not a folder, and there is no commit "elsewhere" in .*\. Use a git ref/,
    ],
    [
      "no project",
      "HEAD~3",
      /^cannot compare with "HEAD~3": it has no config in .*, expected viceroy\.config\.ts\. Use a later ref/,
    ],
    [
      "no lock",
      "HEAD~2",
      /^cannot compare with "HEAD~2": it has no viceroy\.lock, which contains the ids to compare\./,
    ],
  ])("exits with 3 and explains the reason: %s", (_, ref, text) => {
    const { code, err } = viceroy(folder, "break", "--against", ref);
    expect(err).toMatch(text);
    expect(code).toBe(3);
    const json = viceroy(folder, "break", "--against", ref, "--json");
    expect(JSON.parse(json.out)).toMatchObject({ code: "VC4001", text: expect.stringMatching(text) as string });
    expect(json.code).toBe(3);
  });

  test("exits with 2 if the schemas on either side have errors", () => {
    const good = read(folder, "schemas/tree.ts");
    addFiles(folder, { "schemas/tree.ts": "export interface Tree {\n  name: any;\n}\n" });
    const now = viceroy(folder, "break", "--against", "HEAD");
    expect(now.code).toBe(2);
    expect(now.err).toContain("schemas/tree.ts:2:9 error VC1101");
    git(folder, "commit", "-q", "-a", "-m", "an error");
    addFiles(folder, { "schemas/tree.ts": good });
    const then = viceroy(folder, "break", "--against", "HEAD");
    expect(then.code).toBe(2);
    expect(then.err).toContain("cannot compare with HEAD: its schemas have errors\nschemas/tree.ts:2:9 error VC1101");
    git(folder, "commit", "-q", "-a", "-m", "mended");
  });
});

test("`viceroy break` compares with a folder outside of a repository", () => {
  const older = folderWith({
    "package.json": '{ "name": "shop" }',
    "viceroy.config.ts": config,
    "schemas/tree.ts": tree,
  });
  const newer = folderWith({
    "package.json": '{ "name": "shop" }',
    "viceroy.config.ts": config,
    "schemas/tree.ts": tree,
  });
  expect(viceroy(newer, "break", "--against", older).err).toMatch(/^cannot compare with ".*": it has no viceroy\.lock/);
  expect(viceroy(older, "compile").code).toBe(0);
  addFiles(newer, { "viceroy.lock": read(older, "viceroy.lock") });
  expect(viceroy(newer, "break", "--against", older).code).toBe(0);
  const { code, err } = viceroy(newer, "break", "--against", "HEAD");
  expect(err).toMatch(
    /^cannot compare with "HEAD": it is not a folder, and .* is not in a git repository\. Use a git ref/,
  );
  expect(code).toBe(3);
  expect(viceroy(newer, "break").code).toBe(3);
});
