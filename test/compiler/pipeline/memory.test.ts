/** Whoever watches gets what a compilation from nothing gives, edit after edit. */
import { rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { Project } from "../../../compiler/cli/project.js";
import { CompileMemory, compileProject } from "../../../compiler/pipeline/index.js";
import { addFiles, folderWith, read } from "../folder.js";

const a = "export interface A {\n  name: string;\n  b?: B;\n}\nexport interface B {\n  size: number;\n}\n";
const b =
  'import type { Actor } from "viceroy/schema";\nimport type { A } from "./a.js";\nexport interface Store extends Actor {\n  get(key: string): A;\n}\n';

/** What is written to which file; undefined: the file goes. */
type Edit = Readonly<Record<string, string | undefined>>;

const edits: readonly Edit[] = [
  { "schemas/a.ts": a.replace("size: number", "size: number;\n  weight: number") },
  { "schemas/a.ts": a },
  { "schemas/a.ts": a.replace("  name: string;", "  title: string;") },
  { "schemas/a.ts": a.replace("  name: string;", "  /** @was name */\n  title: string;") },
  // A declaration moves to another file, and back.
  {
    "schemas/a.ts": `import type { B } from "./c.js";\n${a.slice(0, a.indexOf("export interface B"))}`,
    "schemas/c.ts": "export interface B {\n  size: number;\n}\n",
  },
  { "schemas/a.ts": a, "schemas/c.ts": undefined },
  // Two of a name, one of them new.
  { "schemas/d.ts": "export interface B {\n  other: string;\n}\n" },
  { "schemas/d.ts": undefined, "schemas/b.ts": b.replace("get(key", "get(id") },
  { "schemas/b.ts": b.replace("extends Actor {", "extends Actor {\n  drop(): void;") },
  { "package.json": '{ "name": "market", "type": "module" }' },
];

test("edit after edit, with the lock as it was and with the lock as it becomes", async () => {
  const folder = folderWith({
    "package.json": '{ "name": "shop", "type": "module" }',
    "viceroy.config.ts":
      'import { defineConfig } from "viceroy/compiler";\nexport default defineConfig({ schemas: "schemas/**/*.ts", actors: "src/**/*.ts" });\n',
    "schemas/a.ts": a,
    "schemas/b.ts": b,
    "src/store.ts": 'import { StoreActor } from "../generated/b.js";\nexport class MemoryStore extends StoreActor {}\n',
  });
  const watching = new Project(folder);
  const memory = new CompileMemory();
  const config = await watching.config();
  const source = await watching.source();
  for (const writesLock of [false, true]) {
    for (const edit of [{}, ...edits]) {
      for (const [file, text] of Object.entries(edit)) {
        if (text === undefined) rmSync(path.join(folder, file));
        else addFiles(folder, { [file]: text });
      }
      const now = compileProject(config, source, "1.0.0", memory);
      const afresh = compileProject(config, await new Project(folder).source(), "1.0.0");
      expect(now.diagnostics).toEqual(afresh.diagnostics);
      expect(now.output?.files).toEqual(afresh.output?.files);
      expect(now.output?.lock.text).toBe(afresh.output?.lock.text);
      expect(now.output?.schema).toEqual(afresh.output?.schema);
      if (writesLock && now.output !== undefined) addFiles(folder, { "viceroy.lock": now.output.lock.text });
    }
    addFiles(folder, { "package.json": '{ "name": "shop", "type": "module" }', "schemas/b.ts": b });
  }
  expect(read(folder, "viceroy.lock")).toContain("-");
});
