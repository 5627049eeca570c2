/** The fixtures of diagnostics: for every code a small project that is wrong in that way, and what is said of it. */
import { cpSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { compile } from "../../../compiler/cli/compile.js";
import { Project } from "../../../compiler/cli/project.js";
import type { Diagnostic } from "../../../compiler/diagnostics/index.js";
import { TestIo } from "../folder.js";

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

/** What `viceroy compile --json` says of a fixture; what has to do with drift is found by `--check`. */
export async function diagnose(fixture: string): Promise<readonly Diagnostic[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-fixture-"));
  cpSync(path.join(fixturesFolder, fixture), folder, { recursive: true });
  const io = new TestIo();
  const check = fixture.startsWith("VC3");
  await compile(new Project(folder), { check, json: true, draft: false }, io);
  return io.lines.map((line) => JSON.parse(line) as Diagnostic);
}
