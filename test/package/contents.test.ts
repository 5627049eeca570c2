/** Checks that the published packages contain the build and nothing else. */
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
let compiler: Packed;
let compilerNames: string[];
const manifest = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as Manifest;

beforeAll(() => {
  packed = contentsOf(root);
  names = packed.files.map((file) => file.path);
  compiler = contentsOf(path.join(root, "dist/node_modules/@viceroy/compiler"));
  compilerNames = compiler.files.map((file) => file.path);
});

function contentsOf(folder: string): Packed {
  const json = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
  });
  return (JSON.parse(json) as [Packed])[0];
}

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
  const needed = ["dist/runtime.cjs", "dist/runtime-rest.cjs", "dist/load.cjs", "dist/boot.cjs", "LICENSE"];
  expect(names).toEqual(expect.arrayContaining(needed));
});

test("the package contains the chart of the controller", () => {
  const chart = names.filter((name) => name.startsWith("charts/controller/"));
  expect(chart).toEqual(
    expect.arrayContaining(
      ["Chart.yaml", "values.yaml", "values.schema.json"].map((name) => `charts/controller/${name}`),
    ),
  );
  expect(chart.filter((name) => name.startsWith("charts/controller/templates/"))).toHaveLength(9);
});

test("the package of the compiler contains the pages that `viceroy explain` reads and the schema vocabulary", () => {
  expect(compilerNames).toEqual(
    expect.arrayContaining([...explainingPages, "dist/commands.js", "shared/vocabulary.ts", "LICENSE"]),
  );
});

test("the package contains no sources except the archive of those of addons, no source maps, no tests and no other files", () => {
  const expected =
    /^(?:dist\/.*\.(?:js|cjs|mjs|d\.ts)|dist\/cli\/package\.json|dist\/(?:(?:cli|typescript)\/)?LICENSE\.[\w-]+|dist\/native\/(?:sources\.br|LICENSE\.node-(?:addon-api|api-headers))|charts\/controller\/(?:Chart\.yaml|values\.(?:yaml|schema\.json)|templates\/(?:[\w-]+\.(?:yaml|tpl)|NOTES\.txt))|package\.json|README\.md|LICENSE)$/;
  expect(names.filter((name) => !expected.test(name))).toEqual([]);
  expect(names.filter((name) => /(?:^|\/)(?:test|bench|examples|node_modules)\//.test(name))).toEqual([]);
});

test("the package of the compiler contains no sources", () => {
  const expected =
    /^(?:dist\/(?:[\w-]+\.js|untouched\.cjs)|inline\/runtime\.js|shared\/vocabulary\.ts|docs\/reference\/(?:diagnostics|breaking-changes)\.md|package\.json|LICENSE)$/;
  expect(compilerNames.filter((name) => !expected.test(name))).toEqual([]);
});

test("the file of the command is executable", () => {
  const command = packed.files.find((file) => file.path === "dist/cli/viceroy.js");
  expect(command!.mode & 0o111).toBe(0o111);
});

test("the packages are below the size limits", () => {
  // `npm run pack` also shortens scripts by a third. Another test limits what production installs to 3.7 MB.
  expect(packed.unpackedSize).toBeLessThan(5_050_000);
  // The runtime for programs of one file is a quarter of it.
  expect(compiler.unpackedSize).toBeLessThan(2_400_000);
});
