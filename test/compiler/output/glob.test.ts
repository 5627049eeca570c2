import { symlinkSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { glob } from "../../../compiler/output/glob.js";
import { globToRegExp } from "../../../shared/text/glob-to-regexp.js";
import { folderWith } from "../folder.js";

test.each<readonly [string, readonly string[], readonly string[]]>([
  ["schemas/**/*.ts", ["schemas/a.ts", "schemas/x/y/a.ts"], ["schemas/a.js", "schemas/.git/a.ts", "a.ts"]],
  ["*.ts", ["a.ts"], ["x/a.ts", ".a.ts"]],
  ["src/{a,b}/*.{ts,mts}", ["src/a/x.ts", "src/b/x.mts"], ["src/c/x.ts", "src/a/x.js"]],
  ["a?[0-9].ts", ["ab1.ts"], ["a1.ts", "abc.ts"]],
  ["a(b)+.ts", ["a(b)+.ts"], ["abb.ts"]],
  ["**/*.ts", ["a.ts", "x/a.ts"], ["x/.hidden/a.ts"]],
])("the glob pattern %s accepts matching paths and rejects others", (pattern, matching, others) => {
  expect(matching.filter((name) => !globToRegExp(pattern).test(name))).toEqual([]);
  expect(others.filter((name) => globToRegExp(pattern).test(name))).toEqual([]);
});

test("glob lists matching files in order, without skipped folders, negated patterns and cyclic links", () => {
  const root = folderWith({
    "schemas/b.ts": "",
    "schemas/a/deep/c.ts": "",
    "schemas/a/x.test.ts": "",
    "schemas/node_modules/d.ts": "",
    "schemas/folder.ts/e.md": "",
    "generated/f.ts": "",
  });
  symlinkSync(path.join(root, "schemas"), path.join(root, "schemas/a/circle"));
  symlinkSync(path.join(root, "generated/f.ts"), path.join(root, "schemas/link.ts"));
  expect(glob(root, ["schemas/**/*.ts", "!**/*.test.ts"], ["generated"])).toEqual([
    "schemas/a/deep/c.ts",
    "schemas/b.ts",
    "schemas/link.ts",
  ]);
  expect(glob(root, ["**/*.ts"], ["generated", "schemas/a"])).toEqual(["schemas/b.ts", "schemas/link.ts"]);
  expect(glob(root, ["missing/*.ts"], [])).toEqual([]);
});
