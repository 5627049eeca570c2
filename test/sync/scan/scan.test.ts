import { rmSync, symlinkSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type ScanOptions, scan } from "../../../runtime/sync/scan/scan.js";
import { addFiles, folderWith, git, rejection, repositoryWith } from "../folder.js";

async function paths(root: string, options: Partial<ScanOptions> = {}): Promise<string[]> {
  return (await scan({ roots: [root], ...options })).entries.map(({ path }) => path).sort();
}

test("a scan lists tracked and new files, and leaves out what git ignores", async () => {
  const root = repositoryWith({ ".gitignore": "*.log\n/data\n", "src/a.ts": "a", "removed.ts": "r" });
  addFiles(root, {
    "src/new.ts": "n",
    "debug.log": "l",
    "data/big": "b",
    ".viceroy/state.json": "{}",
    "node_modules/p/index.js": "",
  });
  rmSync(path.join(root, "removed.ts"));
  const found = await scan({ roots: [root] });
  expect(found.entries.map((entry) => entry.path).sort()).toEqual([".gitignore", "src/a.ts", "src/new.ts"]);
  expect(found.roots).toEqual([{ root, at: "", byGit: true }]);
});

test("a folder of a repository is scanned alone, and one that git ignores as a whole is scanned as it is on the disk", async () => {
  const root = repositoryWith({ ".gitignore": "dist\n", "app/a.ts": "a", "other/b.ts": "b" });
  addFiles(root, { "dist/a.js": "a", "dist/deep/b.js": "b" });
  expect(await paths(path.join(root, "app"))).toEqual(["a.ts"]);
  expect(await paths(path.join(root, "dist"))).toEqual(["a.js", "deep/b.js"]);
});

test("repositories in a repository are scanned like others", async () => {
  const library = repositoryWith({ ".gitignore": "*.o\n", "lib.ts": "lib" });
  const root = repositoryWith({ "main.ts": "main" });
  git(root, "submodule", "add", "-q", library, "vendor/lib");
  addFiles(root, { "vendor/lib/x.o": "ignored there", "vendor/lib/new.ts": "new" });
  const nested = path.join(root, "nested");
  addFiles(root, { "nested/n.ts": "n", "nested/.gitignore": "skip\n", "nested/skip": "s" });
  git(nested, "init", "-q");
  expect(await paths(root)).toEqual([
    ".gitmodules",
    "main.ts",
    "nested/.gitignore",
    "nested/n.ts",
    "vendor/lib/.gitignore",
    "vendor/lib/lib.ts",
    "vendor/lib/new.ts",
  ]);
});

test("a root outside of git is scanned without packages and private folders", async () => {
  const root = folderWith({
    "a.js": "",
    ".env": "",
    ".git.d/x": "",
    "node_modules/p/index.js": "",
    "sub/node_modules/q/i.js": "",
    ".viceroy/x": "",
  });
  const found = await scan({ roots: [root] });
  expect(found.entries.map((entry) => entry.path)).toEqual([".env", ".git.d/x", "a.js"]);
  expect(found.roots[0]?.byGit).toBe(false);
});

test("git that is not installed means the same as no repository", async () => {
  const root = repositoryWith({ ".gitignore": "x\n", "a.js": "" });
  addFiles(root, { x: "" });
  const { PATH } = process.env;
  process.env["PATH"] = folderWith({});
  try {
    expect(await paths(root)).toEqual([".gitignore", "a.js", "x"]);
  } finally {
    process.env["PATH"] = PATH;
  }
});

test("a repository that git refuses to read is an error, because a listing without git would contain ignored files", async () => {
  const root = repositoryWith({ "a.js": "" });
  addFiles(root, { ".git/index": "damaged" });
  const error = await rejection(scan({ roots: [root] }));
  expect(error).toMatchObject({ name: "SyncError", code: "list-failed", path: root });
  expect(error.message).toMatch(new RegExp(`^cannot scan ${root}: git could not list its files: .*index`));
});

test("patterns exclude names in all folders and paths from the root on, with everything in them", async () => {
  const root = folderWith({
    "a.md": "",
    "x/a.md": "",
    "x/b.ts": "",
    "data/1": "",
    "x/data/2": "",
    "x/.hidden/b.ts": "",
    "y/c/d/e": "",
  });
  expect(await paths(root, { exclude: ["*.md", "/data"] })).toEqual([
    "x/.hidden/b.ts",
    "x/b.ts",
    "x/data/2",
    "y/c/d/e",
  ]);
  expect(await paths(root, { exclude: ["data", "y/**/e", "./x/b.ts"] })).toEqual(["a.md", "x/.hidden/b.ts", "x/a.md"]);
  expect(await paths(root, { exclude: ["**/b.ts", "y/c/", "data"] })).toEqual(["a.md", "x/a.md"]);
});

test("included files and folders are carried although git ignores them, packages only where they are included", async () => {
  const root = repositoryWith({ ".gitignore": "node_modules\nweights\n*.bin\n", "a.ts": "" });
  addFiles(root, {
    "weights/w.bin": "",
    "x.bin": "",
    "node_modules/p/node_modules/q/i.js": "",
    "sub/node_modules/r/i.js": "",
  });
  expect(await paths(root, { include: ["weights", "./x.bin"] })).toEqual([
    ".gitignore",
    "a.ts",
    "weights/w.bin",
    "x.bin",
  ]);
  const all = [".gitignore", "a.ts", "node_modules/p/node_modules/q/i.js"];
  expect(await paths(root, { include: ["node_modules/", "../elsewhere"] })).toEqual(all);
});

test("several roots keep their places to each other, and a root in another one counts once", async () => {
  const top = folderWith({ "app/main.ts": "m", "libs/one/one.ts": "1", "libs/two/two.ts": "2" });
  const roots = ["app", "libs/one", "app", "libs/one/.."].slice(0, 3).map((name) => path.join(top, name));
  const found = await scan({ roots });
  expect(found.entries.map((entry) => entry.path).sort()).toEqual(["app/main.ts", "libs/one/one.ts"]);
  expect(found.roots.map(({ at }) => at)).toEqual(["app", "libs/one"]);
  expect(found.fileOf(found.entries[0]!)).toBe(path.join(top, "app/main.ts"));
  expect(await paths(top, { roots: [path.join(top, "libs/one"), path.join(top, "libs")] })).toEqual([
    "one/one.ts",
    "two/two.ts",
  ]);
});

test("equal trees have the same id, wherever they are and however they are listed", async () => {
  const files = { "b/a.ts": "x", "b.ts": "y", "ä.ts": "", "big.bin": Buffer.alloc(3e6, "pattern") };
  const [one, two] = [await scan({ roots: [folderWith(files)] }), await scan({ roots: [repositoryWith(files)] })];
  expect(two.manifest.id).toBe(one.manifest.id);
  expect(one.manifest.id).toMatch(/^[0-9a-f]{64}$/);
  const changed = await scan({ roots: [folderWith({ ...files, "b.ts": "Y" })] });
  expect(changed.manifest.id).not.toBe(one.manifest.id);
});

test("a file that git lists behind a link which has replaced its folder is not a part of the tree", async () => {
  const root = repositoryWith({ "real/a.ts": "a", "old/a.ts": "a" });
  rmSync(path.join(root, "old"), { recursive: true });
  symlinkSync("real", path.join(root, "old"));
  expect(await paths(root)).toEqual(["old", "real/a.ts"]);
});
