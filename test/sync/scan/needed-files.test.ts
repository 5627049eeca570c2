import { symlinkSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { candidatesOf, filesOfPackage, importsIn } from "../../../runtime/sync/scan/imports.js";
import { type ScanOptions, scan } from "../../../runtime/sync/scan/scan.js";
import { addFiles, folderWith, rejection, repositoryWith } from "../folder.js";

async function paths(root: string, needed: readonly string[], options: Partial<ScanOptions> = {}): Promise<string[]> {
  const { entries } = await scan({ roots: [root], needed: needed.map((file) => path.resolve(root, file)), ...options });
  return entries.map((entry) => entry.path);
}

test("compiled output is carried as a whole when the program starts in it, and other ignored folders are not", async () => {
  const root = repositoryWith({ ".gitignore": "dist\ncoverage\n", "src/main.ts": "" });
  addFiles(root, {
    "dist/main.js": "",
    "dist/assets/page.html": "",
    "dist/node_modules/p/i.js": "",
    "coverage/index.html": "",
  });
  expect(await paths(root, [])).toEqual([".gitignore", "src/main.ts"]);
  expect(await paths(root, ["dist/main.js"])).toEqual([
    ".gitignore",
    "dist/assets/page.html",
    "dist/main.js",
    "src/main.ts",
  ]);
});

test("imports are followed from listed files into ignored ones, in every form", async () => {
  const ignored = "out-*\n*.gen.ts\nsettings.json\n";
  const root = repositoryWith({
    ".gitignore": ignored,
    "main.ts": [
      'import { a } from "./out-a/index.js";',
      'export * from "./out-b/b.mjs";',
      "const c = await import(`./out-c/c.ts`);",
      'const d = require("./out-d/d");',
      'new Worker(new URL("./out-e/worker.cjs", import.meta.url));',
      'import type { F } from "./f.gen.js";',
      'readFileSync("./settings.json");',
      'import "node:fs";',
      'import "./missing.js";',
    ].join("\n"),
  });
  addFiles(root, {
    "out-a/index.js": 'import "./more.js"; import "../out-deep/x.js"',
    "out-a/more.js": "",
    "out-b/b.mjs": "",
    "out-c/c.ts": "",
    "out-d/d.js": "",
    "out-e/worker.cjs": "",
    "out-deep/x.js": "",
    "out-unused/u.js": "",
    "f.gen.ts": "",
    "g.gen.ts": "",
    "settings.json": "{}",
  });
  const expected = [
    ".gitignore",
    "f.gen.ts",
    "main.ts",
    "out-a/index.js",
    "out-a/more.js",
    "out-b/b.mjs",
    "out-c/c.ts",
  ];
  expect(await paths(root, ["main.ts"])).toEqual([
    ...expected,
    "out-d/d.js",
    "out-deep/x.js",
    "out-e/worker.cjs",
    "settings.json",
  ]);
  expect(await paths(root, ["main.ts"], { exclude: ["out-a", "settings.json"] })).not.toContain("out-deep/x.js");
});

test("packages of the same repository are followed through their links and manifests, installed ones are not", async () => {
  const root = repositoryWith({
    ".gitignore": "node_modules\ndist\nbuild\n",
    "app/main.js": 'import { x } from "@scope/lib/x"; import installed from "installed";',
    "app/package.json": '{ "imports": { "#own": "./build/own.js" } }',
    "lib/package.json": '{ "main": "dist/index.js", "exports": { "./*": { "import": "./build/*.js" } } }',
  });
  addFiles(root, {
    "app/build/own.js": "",
    "lib/dist/index.js": "",
    "lib/build/x.js": "",
    "node_modules/installed/index.js": "",
    "node_modules/installed/package.json": '{ "main": "index.js" }',
    "node_modules/@scope/.keep": "",
    "other/dist/unused.js": "",
  });
  symlinkSync("../../lib", path.join(root, "node_modules/@scope/lib"));
  expect(await paths(root, ["app/main.js"])).toEqual([
    ".gitignore",
    "app/build/own.js",
    "app/main.js",
    "app/package.json",
    "lib/build/x.js",
    "lib/dist/index.js",
    "lib/package.json",
  ]);
});

test("generated code, the lock file and the config are carried although git ignores them", async () => {
  const root = repositoryWith({ ".gitignore": "generated\nviceroy.*\n", "a.ts": "" });
  addFiles(root, { "generated/registry.ts": "", "viceroy.lock": "", "viceroy.config.ts": "", "viceroy.log": "" });
  expect(await paths(root, [])).toEqual([
    ".gitignore",
    "a.ts",
    "generated/registry.ts",
    "viceroy.config.ts",
    "viceroy.lock",
  ]);
  expect(await paths(root, [], { exclude: ["generated"] })).not.toContain("generated/registry.ts");
});

test("what a file imports is remembered, and read again after a change", async () => {
  const root = repositoryWith({ ".gitignore": "one\ntwo\n.viceroy\n", "main.ts": 'import "./one/a.js";' });
  addFiles(root, { "one/a.js": "", "two/a.js": "" });
  const memory = path.join(root, ".viceroy/sync");
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  for (let i = 0; i < 3; i++) expect(await paths(root, ["main.ts"], { memory })).toContain("one/a.js");
  addFiles(root, { "main.ts": 'import "./two/a.js";' });
  const changed = await paths(root, ["main.ts"], { memory });
  expect(changed).toContain("two/a.js");
  expect(changed).not.toContain("one/a.js");
});

test("a program that starts outside of the roots, or with a file that does not exist, is refused", async () => {
  const root = folderWith({ "app/a.ts": "", "scripts/main.ts": "", "node_modules/tsx/loader.js": "" });
  const roots = [path.join(root, "app")];
  expect((await rejection(paths(root, ["scripts/main.ts"], { roots }))).message).toBe(
    `cannot sync ${root}/scripts/main.ts: the program starts with it, and it is in none of the roots; add its folder to roots, ` +
      `got ${root}/app`,
  );
  expect((await rejection(paths(root, ["app/none.ts"], { roots }))).message).toBe(
    `cannot sync ${root}/app/none.ts: the program starts with it, and it does not exist`,
  );
  expect(await paths(root, ["node_modules/tsx/loader.js"], { roots })).toEqual(["a.ts"]);
});

test("specifiers are found in text", () => {
  expect(
    importsIn("import a from 'a'; export { b } from \"@b/c/d\"; import(`./x.js`); require( '../y' ); x = '#z'"),
  ).toEqual([...["./x.js", "../y", "a", "@b/c/d"]]);
  expect(importsIn("import '#own'; from 'node:fs'; `./$" + "{name}.js`; './a\\n'")).toEqual(["#own"]);
});

test("a compiled name can mean a source", () => {
  expect(candidatesOf("/a/b.mjs").slice(0, 3)).toEqual(["/a/b.mjs", "/a/b.mts", "/a/b.tsx"]);
  expect(candidatesOf("/a/b")).toEqual(expect.arrayContaining(["/a/b.ts", "/a/b/index.js", "/a/b.json"]));
});

test("a manifest names files, and one that is damaged names none", () => {
  const manifest = {
    main: "a.js",
    bin: { b: "bin/b.js" },
    exports: { ".": ["./c.js", { default: "./d/*.js" }], "./e": null },
  };
  expect(filesOfPackage(JSON.stringify(manifest))).toEqual(["a.js", "bin/b.js", "./c.js", "./d/*.js"]);
  for (const text of ["{", "null", "3"]) expect(filesOfPackage(text)).toEqual([]);
});
