/** Checks that the published package contains the build and nothing else. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { explainingPages } from "../../compiler/cli/commands/explain.js";

const root = path.resolve(import.meta.dirname, "../..");

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

let packed: Packed;
let names: string[];
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Manifest;

beforeAll(() => {
  const json = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
  });
  [packed] = JSON.parse(json) as [Packed];
  names = packed.files.map((file) => file.path);
});

test("the package contains every entry point that package.json names, with its declarations", () => {
  const targets = [
    ...Object.values(manifest.bin),
    ...Object.values(manifest.exports).flatMap((target) =>
      typeof target === "string" ? [target] : Object.values(target),
    ),
  ];
  for (const target of targets) expect(names).toContain(target.replace(/^\.\//, ""));
});

test("the package contains the files that entry points load at run time", () => {
  expect(names).toEqual(expect.arrayContaining(["dist/runtime.cjs", "dist/load.cjs", "dist/boot.cjs", "LICENSE"]));
});

test("the package contains the pages that `viceroy explain` reads", () => {
  expect(names).toEqual(expect.arrayContaining([...explainingPages]));
});

test("the package contains no sources except those of addons, no tests and no other files", () => {
  const expected =
    /^(?:native\/(?:rdma|tensor)\/(?:(?:\w+\/)?\w+\.(?:cc|h)|README\.md)|dist\/.*\.(?:js|cjs|map|d\.ts)|docs\/reference\/(?:diagnostics|breaking-changes)\.md|package\.json|README\.md|LICENSE)$/;
  expect(names.filter((name) => !expected.test(name))).toEqual([]);
  expect(names.filter((name) => /(?:^|\/)(?:test|bench|examples)\//.test(name))).toEqual([]);
});

test("the file of the command is executable", () => {
  const command = packed.files.find((file) => file.path === "dist/cli/viceroy.js");
  expect(command!.mode & 0o111).toBe(0o111);
});

test("the package is below the size limits", () => {
  // A quarter of it are declarations with their docstrings, which editors show.
  expect(packed.size).toBeLessThan(2_250_000);
  expect(packed.unpackedSize).toBeLessThan(9_500_000);
});
