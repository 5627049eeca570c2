/** The checks that keep dependencies pointing downwards find what they are there to find. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
const biome = path.join(
  path.dirname(createRequire(import.meta.url).resolve("@biomejs/biome/package.json")),
  "bin/biome",
);
let tree: string;

beforeAll(() => {
  tree = mkdtempSync(path.join(tmpdir(), "viceroy-layers-"));
  copyFileSync(path.join(root, "biome.json"), path.join(tree, "biome.json"));
});
afterAll(() => rmSync(tree, { recursive: true, force: true }));

/** The rules that each file of a tree breaks. */
function broken(files: Readonly<Record<string, string>>): Record<string, string[]> {
  for (const [name, imported] of Object.entries(files)) {
    const file = path.join(tree, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, `import { x } from "${imported}";\nexport const y = x;\n`);
  }
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [biome, "lint", "--reporter=json", "--max-diagnostics=none", "--config-path", tree, tree],
    { encoding: "utf8", cwd: tree },
  );
  if (stdout === "") throw new Error(stderr);
  const found: Record<string, string[]> = {};
  for (const { category, location } of (JSON.parse(stdout) as Report).diagnostics) {
    const name = path.relative(tree, path.resolve(tree, location.path)).replaceAll("\\", "/");
    found[name] = [...(found[name] ?? []), category];
  }
  return found;
}

interface Report {
  readonly diagnostics: readonly { readonly category: string; readonly location: { readonly path: string } }[];
}

const restricted = ["lint/style/noRestrictedImports"];

test("an import that points upwards, or to the other side, is found", () => {
  const upwards = {
    "runtime/wire/a.ts": "../shape/region.js",
    "runtime/wire/b.ts": "../link/frame.js",
    "runtime/shape/a.ts": "../wire/reader.js",
    "runtime/link/a.ts": "../actor/actor.js",
    "runtime/link/unix/a.ts": "../../host/host.js",
    "runtime/link/b.ts": "../cast/caster.js",
    "runtime/cast/a.ts": "../actor/cell.js",
    "runtime/actor/a.ts": "../supervise/failure.js",
    "runtime/supervise/a.ts": "../proc/registry.js",
    "runtime/proc/a.ts": "../host/host.js",
    "runtime/host/a.ts": "../codegen/v1/index.js",
    "runtime/host/b.ts": "viceroy",
    "runtime/host/c.ts": "../bundle/load.js",
    "runtime/a.ts": "../compiler/model/schema.js",
    "runtime/b.ts": "ts-morph",
    "runtime/wire/c.ts": "../../compiler/model/schema.js",
    "runtime/codegen/v1/a.ts": "../../bundle/load.js",
    "runtime/c.ts": "./tensor/index.js",
    "runtime/bundle/a.ts": "../tensor/index.js",
    "runtime/tensor/a.ts": "../proc/registry.js",
    "runtime/native/b.ts": "../rdma/table.js",
    "compiler/a.ts": "../runtime/wire/reader.js",
    "compiler/model/a.ts": "ts-morph",
    "compiler/emit/a.ts": "viceroy",
    "compiler/source/a.ts": "@ts-morph/common",
    "compiler/source/ts-morph/a.ts": "../../../runtime/index.js",
  };
  expect(broken(upwards)).toEqual(Object.fromEntries(Object.keys(upwards).map((name) => [name, restricted])));
});

test("an import that points downwards is not", () => {
  rmSync(path.join(tree, "runtime"), { recursive: true });
  rmSync(path.join(tree, "compiler"), { recursive: true });
  const downwards = {
    "runtime/link/a.ts": "../wire/reader.js",
    "runtime/actor/a.ts": "../link/frame.js",
    "runtime/actor/b.ts": "./proc.js",
    "runtime/supervise/a.ts": "../actor/actor.js",
    "runtime/proc/a.ts": "../supervise/failure.js",
    "runtime/proc/b.ts": "../../generated/proc-agent.js",
    "runtime/host/a.ts": "../proc/registry.js",
    "runtime/a.ts": "./host/host.js",
    "runtime/codegen/v1/a.ts": "../../actor/actor.js",
    "runtime/bundle/a.ts": "../codegen/v1/index.js",
    "runtime/tensor/a.ts": "../index.js",
    "compiler/source/ts-morph/a.ts": "ts-morph",
    "compiler/emit/a.ts": "../model/schema.js",
    "compiler/emit/b.ts": "../../schemas/vocabulary.js",
  };
  expect(broken(downwards)).toEqual({});
});

test("a cycle of imports is found", () => {
  const cycle = { "runtime/wire/one.ts": "./two.js", "runtime/wire/two.ts": "./one.js" };
  expect(Object.values(broken(cycle)).flat()).toContain("lint/suspicious/noImportCycles");
});
