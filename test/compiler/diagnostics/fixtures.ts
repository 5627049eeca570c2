/** The fixtures of diagnostics: for every code a small project that is wrong in that way, and what is said of it. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "../../../compiler/cli/commands/compile.js";
import { Project } from "../../../compiler/cli/project.js";
import type { Diagnostic } from "../../../compiler/diagnostics/index.js";
import { TestIo } from "../folder.js";
import { TestRepository } from "../git/repository.js";

export const fixturesFolder = fileURLToPath(new URL("../../fixtures/diagnostics/", import.meta.url));
export const expectedName = "expected.json";

/** Names of the fixtures: `VC1107-mixed-union`. */
export function fixtures(): readonly string[] {
  return readdirSync(fixturesFolder).sort();
}

export function expectedOf(fixture: string): readonly Diagnostic[] {
  const text = readFileSync(path.join(fixturesFolder, fixture, expectedName), "utf8");
  return JSON.parse(text) as readonly Diagnostic[];
}

/** The input files of a fixture that say what is wrong; not the config and the package that all have. */
export function inputsOf(fixture: string): readonly { readonly name: string; readonly text: string }[] {
  const folder = path.join(fixturesFolder, fixture);
  const config = readFileSync(path.join(fixturesFolder, "VC1101-no-data-type", "viceroy.config.ts"), "utf8");
  const names = readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort();
  return names
    .filter((name) => name !== expectedName && name !== "package.json")
    .map((name) => ({ name: name.split(path.sep).join("/"), text: readFileSync(path.join(folder, name), "utf8") }))
    .filter(({ name, text }) => name !== "viceroy.config.ts" || text !== config);
}

/**
 * What `viceroy compile --json` says of a fixture. What has to do with drift, or with the past, is found by `--check`: the
 * past is what stands in `before/`, committed.
 */
export async function diagnose(fixture: string): Promise<readonly Diagnostic[]> {
  const from = path.join(fixturesFolder, fixture);
  const before = path.join(from, "before");
  const hasPast = existsSync(before);
  const folder = hasPast ? new TestRepository().folder : mkdtempSync(path.join(tmpdir(), "viceroy-fixture-"));
  if (hasPast) {
    cpSync(before, folder, { recursive: true });
    new TestRepository(folder).commit("before");
  }
  cpSync(from, folder, { recursive: true, filter: (file) => file !== before });
  const io = new TestIo();
  const check = fixture.startsWith("VC3") || hasPast;
  await compile(new Project(folder), { check, json: true, draft: false }, io);
  const found = io.lines.map((line) => JSON.parse(line) as Diagnostic);
  // There is no generated code in it.
  return hasPast ? found.filter(({ code }) => !code.startsWith("VC3")) : found;
}
