/**
 * The fixtures of `viceroy break`: for every rule an older and a newer state of a small project, and what is said of the
 * change. What all have in common, the config and the package, is added here; a lock is made where none is given, as
 * `compile` would: the newer side's goes on from the older one's.
 */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { breakCommand } from "../../../compiler/cli/commands/break.js";
import { compile } from "../../../compiler/cli/commands/compile.js";
import { Project } from "../../../compiler/cli/project.js";
import { addFiles, TestIo } from "../folder.js";

export const fixturesFolder = fileURLToPath(new URL("../../fixtures/evolve/", import.meta.url));
export const expectedName = "expected.txt";

/** Names of the fixtures: `VC5001-field-type-changed`. */
export function fixtures(): readonly string[] {
  return readdirSync(fixturesFolder).sort();
}

export function expectedOf(fixture: string): string {
  return readFileSync(path.join(fixturesFolder, fixture, expectedName), "utf8");
}

/** The files of one side, sorted; a lock too where it is what the change is about. */
export function inputsOf(fixture: string, side: "old" | "new") {
  const folder = path.join(fixturesFolder, fixture, side);
  return readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
    .sort()
    .map((name) => ({ name, text: readFileSync(path.join(folder, name), "utf8") }));
}

const common = {
  "package.json": '{ "name": "example" }\n',
  "viceroy.config.ts": 'export default { schemas: "schemas/**/*.ts" };\n',
};

/** The two states of a fixture, in folders of their own. */
export async function setUp(fixture: string): Promise<{ readonly older: string; readonly newer: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-evolve-"));
  const [older, newer] = [path.join(folder, "old"), path.join(folder, "new")];
  for (const side of [older, newer]) {
    addFiles(side, common);
    cpSync(path.join(fixturesFolder, fixture, path.basename(side)), side, { recursive: true });
  }
  await write(older);
  if (!existsSync(path.join(newer, "viceroy.lock")))
    cpSync(path.join(older, "viceroy.lock"), path.join(newer, "viceroy.lock"));
  return { older, newer };
}

async function write(folder: string): Promise<void> {
  const io = new TestIo();
  const code = await compile(new Project(folder), { check: false, json: false, draft: false }, io);
  if (code !== 0) throw new Error(`cannot set up a fixture: ${[...io.errors, ...io.lines].join("\n")}`);
}

/** What `viceroy break` says of a fixture, and how it ends. */
export async function judge(fixture: string): Promise<string> {
  const { older, newer } = await setUp(fixture);
  const io = new TestIo();
  const code = await breakCommand(new Project(newer), { against: older, json: false, classes: undefined }, io);
  return `${[...io.errors, ...io.lines, `exit code ${code}`].join("\n")}\n`.replaceAll(older, "../old");
}
