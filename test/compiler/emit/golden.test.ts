/**
 * Golden cases: schemas in `golden/<case>/input`, the code generated from them in `golden/<case>/expected`. After an
 * intended change, `UPDATE_GOLDEN=1 npx vitest run test/compiler/emit/golden` rewrites them: review the difference.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type EmittedFile, emitTypeScript } from "../../../compiler/emit/index.js";
import { assignIds } from "../../../compiler/lock/index.js";
import { lowerToProtobuf } from "../../../compiler/protobuf/lower/lower.js";
import { openTypeSource, readSchema, type SourceText } from "../../../compiler/source/index.js";

const root = fileURLToPath(new URL("golden/", import.meta.url));
const source = openTypeSource({ exists: () => false });

function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" });
  return entries.filter((entry) => entry.endsWith(".ts")).map((entry) => entry.replaceAll(path.sep, "/"));
}

/** Reads the schemas of a case, with paths as if they were in `schemas/`. */
function inputOf(name: string): readonly SourceText[] {
  return filesIn(`${name}/input`).map((file) => {
    return { path: `schemas/${file}`, text: readFileSync(path.join(root, name, "input", file), "utf8") };
  });
}

function compile(texts: readonly SourceText[]): readonly EmittedFile[] {
  source.update(texts);
  const read = readSchema(source, "golden");
  expect(read.diagnostics).toEqual([]);
  const { schema, lock, problems } = assignIds(read.schema);
  expect(problems).toEqual([]);
  const enumNames = () => lowerToProtobuf(schema, lock, { package: "golden.v1", schemaRoot: "schemas" }).enumNames;
  return emitTypeScript(schema, { version: "0.1.0", schemaRoot: "schemas", out: "generated", actors: [], enumNames });
}

function replace(folder: string, files: readonly EmittedFile[]): void {
  rmSync(folder, { recursive: true, force: true });
  for (const file of files) {
    mkdirSync(path.dirname(path.join(folder, file.path)), { recursive: true });
    writeFileSync(path.join(folder, file.path), file.text);
  }
}

const cases = readdirSync(root);

test.each(cases)("the generated files of %s equal its golden files", (name) => {
  const files = compile(inputOf(name)).filter((file) => file.path !== "registry.ts");
  if (process.env["UPDATE_GOLDEN"] === "1") replace(path.join(root, name, "expected"), files);
  expect(files.map((file) => file.path)).toEqual([...filesIn(`${name}/expected`)].sort());
  for (const file of files) {
    expect(file.text, file.path).toBe(readFileSync(path.join(root, name, "expected", file.path), "utf8"));
  }
});

test.each(cases)("%s is generated identically in another order of its files and after another case", (name) => {
  const texts = inputOf(name);
  const first = compile(texts);
  compile(inputOf(cases[0] === name ? cases[1]! : cases[0]!));
  expect(compile([...texts].reverse())).toEqual(first);
});
