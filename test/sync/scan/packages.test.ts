/** The packages that a program needs are carried with it, wherever they are installed. */
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { scan } from "../../../runtime/sync/scan/scan.js";
import { addFiles, folderWith } from "../folder.js";

const manifest = (name: string, fields: object = {}) => JSON.stringify({ name, ...fields });
const needs = (...names: string[]) => ({ dependencies: Object.fromEntries(names.map((name) => [name, "*"])) });

/** Returns the paths of a tree with packages. */
async function pathsOf(root: string, options: { packages?: string[]; exclude?: string[] } = {}): Promise<string[]> {
  const { entries } = await scan({ roots: [root], packages: [], ...options });
  return entries.map((entry) => entry.path);
}

test("the closure of the dependencies is carried, without development packages", async () => {
  const root = folderWith({
    "package.json": manifest("app", {
      ...needs("a"),
      devDependencies: { tool: "*" },
      optionalDependencies: { absent: "*" },
    }),
    "node_modules/a/package.json": manifest("a", {
      ...needs("b"),
      peerDependencies: { peer: "*", other: "*" },
      peerDependenciesMeta: { other: { optional: true } },
    }),
    "node_modules/a/index.js": "",
    "node_modules/a/node_modules/b/package.json": manifest("b"),
    "node_modules/b/package.json": manifest("b"),
    "node_modules/peer/package.json": manifest("peer"),
    "node_modules/other/package.json": manifest("other"),
    "node_modules/tool/package.json": manifest("tool"),
    "node_modules/.bin/tool": "",
  });
  expect(await pathsOf(root)).toEqual([
    "node_modules/a/index.js",
    "node_modules/a/node_modules/b/package.json",
    "node_modules/a/package.json",
    "node_modules/peer/package.json",
    "package.json",
  ]);
  expect(await pathsOf(root, { packages: ["tool"] })).toContain("node_modules/tool/package.json");
  expect(await pathsOf(root, { exclude: ["index.js", "node_modules/peer"] })).toEqual([
    "node_modules/a/node_modules/b/package.json",
    "node_modules/a/package.json",
    "package.json",
  ]);
});

test("a store of packages with links, as of pnpm, keeps its form", async () => {
  const root = folderWith({
    "package.json": manifest("app", needs("a")),
    "node_modules/.pnpm/a@1/node_modules/a/package.json": manifest("a", needs("b")),
    "node_modules/.pnpm/b@1/node_modules/b/package.json": manifest("b", needs("a")),
  });
  symlinkSync(".pnpm/a@1/node_modules/a", path.join(root, "node_modules/a"));
  symlinkSync("../../b@1/node_modules/b", path.join(root, "node_modules/.pnpm/a@1/node_modules/b"));
  symlinkSync("../../a@1/node_modules/a", path.join(root, "node_modules/.pnpm/b@1/node_modules/a"));
  expect(await pathsOf(root)).toEqual([
    "node_modules/.pnpm/a@1/node_modules/a/package.json",
    "node_modules/.pnpm/a@1/node_modules/b",
    "node_modules/.pnpm/b@1/node_modules/a",
    "node_modules/.pnpm/b@1/node_modules/b/package.json",
    "node_modules/a",
    "package.json",
  ]);
});

test("packages above the root, and linked ones, get a place where Node.js finds them; of a checkout, what it publishes", async () => {
  const top = folderWith({
    "node_modules/hoisted/package.json": manifest("hoisted", needs("deep")),
    "node_modules/deep/package.json": manifest("deep", { version: "1" }),
    "app/package.json": manifest("app", needs("hoisted", "linked")),
    "checkout/package.json": manifest("linked", { ...needs("deep"), files: ["dist", "!dist/**/*.map"] }),
    "checkout/dist/index.js": "",
    "checkout/dist/index.js.map": "",
    "checkout/src/index.ts": "",
    "checkout/node_modules/deep/package.json": manifest("deep", { version: "2" }),
  });
  const root = path.join(top, "app");
  mkdirSync(path.join(root, "node_modules"));
  symlinkSync("../../checkout", path.join(root, "node_modules/linked"));
  const result = await scan({ roots: [root], packages: [] });
  expect(result.entries.map((entry) => [entry.path, path.relative(top, result.fileOf(entry))])).toEqual([
    ["node_modules/deep/package.json", "node_modules/deep/package.json"],
    ["node_modules/hoisted/package.json", "node_modules/hoisted/package.json"],
    ["node_modules/linked/dist/index.js", "checkout/dist/index.js"],
    ["node_modules/linked/node_modules/deep/package.json", "checkout/node_modules/deep/package.json"],
    ["node_modules/linked/package.json", "checkout/package.json"],
    ["package.json", "app/package.json"],
  ]);
});

test("the declarations of Viceroy, which no process loads, stay on this machine, and those of other packages do not", async () => {
  const root = folderWith({
    "package.json": manifest("app", needs("viceroy", "other")),
    "node_modules/viceroy/package.json": manifest("viceroy"),
    "node_modules/viceroy/dist/index.js": "",
    "node_modules/viceroy/dist/types/index.d.ts": "",
    "node_modules/other/package.json": manifest("other"),
    "node_modules/other/dist/types/index.d.ts": "",
  });
  const { entries } = await scan({ roots: [root], packages: [] });
  expect(entries.map(({ path }) => path)).toEqual([
    "node_modules/other/dist/types/index.d.ts",
    "node_modules/other/package.json",
    "node_modules/viceroy/dist/index.js",
    "node_modules/viceroy/package.json",
    "package.json",
  ]);
});

test("the packages of a workspace are found from each of its members", async () => {
  const root = folderWith({
    "package.json": manifest("top"),
    "packages/one/package.json": manifest("one", needs("two", "a")),
    "packages/two/package.json": manifest("two", needs("b")),
    "node_modules/a/package.json": manifest("a"),
    "node_modules/b/package.json": manifest("b"),
    "node_modules/c/package.json": manifest("c"),
  });
  symlinkSync("../packages/two", path.join(root, "node_modules/two"));
  addFiles(root, { ".gitignore": "node_modules\n" });
  expect(await pathsOf(root)).toEqual([
    ".gitignore",
    "node_modules/a/package.json",
    "node_modules/b/package.json",
    "node_modules/two",
    "package.json",
    "packages/one/package.json",
    "packages/two/package.json",
  ]);
});
