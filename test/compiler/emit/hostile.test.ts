/** The output of random schemas with clashing names passes our own formatter, linter and type checker. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emitTypeScript } from "../../../compiler/emit/index.js";
import { assignIds } from "../../../compiler/lock/index.js";
import type { Schema } from "../../../compiler/model/index.js";
import { arbitrarySchema } from "./arbitrary-schema.js";
import { nestedSchema } from "./nested-schema.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const options = { version: "0.1.0", schemaRoot: "schemas", out: "generated", actors: [] };
const samples: readonly Schema[] = [
  ...fc.sample(arbitrarySchema, { numRuns: 100, seed: 1 }),
  ...fc.sample(nestedSchema, { numRuns: 60, seed: 1 }),
];
const folder = mkdtempSync(path.join(tmpdir(), "viceroy-emit-"));

beforeAll(() => {
  for (const [i, schema] of samples.entries()) write(schema, String(i));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(schema: Schema, below: string): void {
  for (const { path: file, text } of emitTypeScript(assignIds(schema).schema, options)) {
    const place = path.join(folder, below, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
}

test("generated files are formatted and pass the linter", () => {
  cpSync(path.join(root, "biome.json"), path.join(folder, "biome.json"));
  const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
  // These rules concern the schema itself: a field called `then`, and files that import each other.
  const skipped = ["noThenProperty", "noImportCycles"].map((r) => `--skip=suspicious/${r}`);
  const folders = samples.map((_, i) => String(i));
  const args = [biome, "check", ...skipped, "--error-on-warnings", ...folders];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  expect({ status, output: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, output: "" });
});

test("generated files pass the type checker in strict mode", () => {
  const project = {
    extends: path.join(root, "tsconfig.json"),
    compilerOptions: {
      rootDir: "/",
      typeRoots: [path.join(root, "node_modules/@types")],
      paths: {
        "viceroy/codegen/v1": [path.join(root, "runtime/codegen/v1/index.ts")],
        "viceroy/tensor": [path.join(root, "runtime/tensor/index.ts")],
      },
    },
    include: ["**/*.ts"],
  };
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(project));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  const compiler = fileURLToPath(import.meta.resolve("typescript/package.json").replace("package.json", "bin/tsc"));
  const { stdout } = spawnSync(process.execPath, [compiler, "-p", folder], { cwd: folder, encoding: "utf8" });
  const found = stdout
    .split("\n")
    .filter((line) => /^\S*: error|^[^ (]+\(\d/.test(line) && !line.includes("/runtime/"));
  expect(found).toEqual([]);
});

test("the order of the schema files never changes the generated code", () => {
  fc.assert(
    fc.property(fc.oneof(arbitrarySchema, nestedSchema), (schema) => {
      const shuffled = { ...schema, modules: [...schema.modules].reverse() };
      expect(emitTypeScript(shuffled, options)).toEqual(emitTypeScript(schema, options));
    }),
    { numRuns: 50, seed: 2, endOnFailure: true },
  );
});
