/** Two states of a small project, one schema file each, and what `viceroy break` says of the change between them. */
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { breakCommand } from "../../../compiler/cli/commands/break.js";
import { compile } from "../../../compiler/cli/commands/compile.js";
import { Project } from "../../../compiler/cli/project.js";
import { addFiles, TestIo } from "../folder.js";

const head = 'import type { Actor, Int32, Int64, NullValue, Oneof, Port, Stream, Value } from "viceroy/schema";\n';

export interface SideOptions {
  /** Behind `schemas` in the config. */
  readonly settings?: string;
  /** Changes the newer project before it is compared, as a user would: `viceroy rename`. */
  readonly change?: (newer: Project) => Promise<unknown>;
}

/**
 * @param newer the newer schema; undefined: `change` makes it
 * @returns `file:line CODE CLASS text`, sorted as the command sorts them
 */
export async function breaksBetween(
  older: string,
  newer: string | undefined,
  { settings = "", change }: SideOptions = {},
): Promise<readonly string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "viceroy-sides-"));
  const [before, after] = [path.join(folder, "old"), path.join(folder, "new")];
  addFiles(before, {
    "package.json": '{ "name": "example" }\n',
    "viceroy.config.ts": `export default { schemas: "schemas/**/*.ts"${settings} };\n`,
    "schemas/a.ts": head + older,
  });
  await run((io) => compile(new Project(before), { check: false, json: false, draft: false }, io));
  cpSync(before, after, { recursive: true });
  if (newer !== undefined) addFiles(after, { "schemas/a.ts": head + newer });
  if (change !== undefined) await change(new Project(after));
  const io = new TestIo();
  await breakCommand(new Project(after), { against: before, json: true, classes: undefined }, io);
  if (io.errors.length > 0) throw new Error(io.errors.join("\n"));
  return io.lines.map((line) => {
    const found = JSON.parse(line) as Readonly<Record<string, string>>;
    const file = (found["file"] ?? "").replace(before, "old");
    return `${file}:${found["line"]} ${found["code"]} ${found["class"]} ${found["text"]}`;
  });
}

async function run(command: (io: TestIo) => Promise<number>): Promise<void> {
  const io = new TestIo();
  const code = await command(io);
  if (code !== 0) throw new Error(`cannot set up the older side: ${[...io.errors, ...io.lines].join("\n")}`);
}
