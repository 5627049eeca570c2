/** The readers of random schemas with clashing names pass our own formatter, linter and type checker. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emitTypeScript } from "../../../../compiler/emit/index.js";
import { assignIds } from "../../../../compiler/lock/index.js";
import { arbitrarySchema } from "../arbitrary-schema.js";
import { nestedSchema } from "../nested-schema.js";
import { emitReaders } from "./compile.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "viceroy-capnp-"));
const samples = [
  ...fc.sample(arbitrarySchema, { numRuns: 60, seed: 5 }),
  ...fc.sample(nestedSchema, { numRuns: 30, seed: 5 }),
];

beforeAll(() => {
  for (const [i, sample] of samples.entries()) {
    const { schema, lock } = assignIds(sample);
    const typeScript = emitTypeScript(schema, {
      version: "0.1.0",
      schemaRoot: "schemas",
      out: "generated",
      actors: [],
    });
    for (const file of [...typeScript, ...emitReaders(schema, lock).files]) {
      const place = path.join(folder, String(i), file.path);
      mkdirSync(path.dirname(place), { recursive: true });
      writeFileSync(place, file.text);
    }
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(command: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

test("generated readers are formatted and pass the linter", () => {
  cpSync(path.join(root, "biome.json"), path.join(folder, "biome.json"));
  const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
  const skipped = ["noThenProperty", "noImportCycles"].map((rule) => `--skip=suspicious/${rule}`);
  const folders = samples.map((_, i) => `${i}/capnp`).filter((name) => existsSync(path.join(folder, name)));
  const { status, output } = run([biome, "check", ...skipped, "--error-on-warnings", ...folders]);
  expect({ status, output: status === 0 ? "" : output }).toEqual({ status: 0, output: "" });
});

test("generated readers pass the type checker in strict mode", () => {
  const project = {
    extends: path.join(root, "tsconfig.json"),
    compilerOptions: {
      rootDir: "/",
      typeRoots: [path.join(root, "node_modules/@types")],
      paths: {
        "viceroy/codegen/v1": [path.join(root, "runtime/codegen/v1/index.ts")],
        "viceroy/tensor": [path.join(root, "runtime/tensor/index.ts")],
        "viceroy/capnp/v1": [path.join(root, "runtime/capnp/index.ts")],
      },
    },
    include: ["**/*.ts"],
  };
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(project));
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  const compiler = fileURLToPath(import.meta.resolve("typescript/package.json").replace("package.json", "bin/tsc"));
  const found = run([compiler, "-p", folder]).output.split("\n");
  expect(found.filter((line) => /^\S*: error|^[^ (]+\(\d/.test(line) && !line.includes("/runtime/"))).toEqual([]);
});
