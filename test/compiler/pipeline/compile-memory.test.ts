/** Checks after every edit that a compilation with the memory of earlier runs equals one from scratch. */
import { rmSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Project } from "../../../compiler/cli/project.js";
import { type CompiledOutput, CompileMemory, compileProject } from "../../../compiler/pipeline/index.js";
import { addFiles, folderWith, read } from "../folder.js";
import { edit, edited, filesOf, start } from "./edits.js";

const a = "export interface A {\n  name: string;\n  b?: B;\n}\nexport interface B {\n  size: number;\n}\n";
const b =
  'import type { Actor } from "viceroy/schema";\nimport type { A } from "./a.js";\nexport interface Store extends Actor {\n  get(key: string): A;\n}\n';

/** The new text of each edited file, or undefined for a file that is deleted. */
type Edit = Readonly<Record<string, string | undefined>>;

const config =
  'import { defineConfig } from "viceroy/compiler";\nexport default defineConfig({ schemas: "schemas/**/*.ts", actors: "src/**/*.ts" });\n';

const nested = 'export namespace Order {\n  export enum Level {\n    Low = "low",\n  }\n}\n';

const edits: readonly Edit[] = [
  { "schemas/a.ts": a.replace("size: number", "size: number;\n  weight: number") },
  { "schemas/a.ts": a },
  { "schemas/a.ts": a.replace("  name: string;", "  title: string;") },
  { "schemas/a.ts": a.replace("  name: string;", "  /** @was name */\n  title: string;") },
  // A declaration moves to another file and back.
  {
    "schemas/a.ts": `import type { B } from "./c.js";\n${a.slice(0, a.indexOf("export interface B"))}`,
    "schemas/c.ts": "export interface B {\n  size: number;\n}\n",
  },
  { "schemas/a.ts": a, "schemas/c.ts": undefined },
  // A new declaration has the name of an existing one.
  { "schemas/d.ts": "export interface B {\n  other: string;\n}\n" },
  { "schemas/d.ts": undefined, "schemas/b.ts": b.replace("get(key", "get(id") },
  { "schemas/b.ts": b.replace("extends Actor {", "extends Actor {\n  drop(): void;") },
  { "package.json": '{ "name": "market", "type": "module" }' },
  // The types of a namespace are inside the message of the same name, but beside an enum of the same name.
  { "schemas/e.ts": `export interface Order {\n  id: string;\n}\n${nested}` },
  { "schemas/e.ts": `export enum Order {\n  First = "first",\n}\n${nested}` },
  { "schemas/e.ts": undefined },
];

test("compilation with a memory equals compilation from scratch after each edit, with old and new locks", async () => {
  const folder = folderWith({
    "package.json": '{ "name": "shop", "type": "module" }',
    "viceroy.config.ts": config,
    "schemas/a.ts": a,
    "schemas/b.ts": b,
    "src/store.ts": 'import { StoreActor } from "../generated/b.js";\nexport class MemoryStore extends StoreActor {}\n',
  });
  const compile = await comparing(folder);
  for (const writesLock of [false, true]) {
    for (const edit of [{}, ...edits]) {
      for (const [file, text] of Object.entries(edit)) {
        if (text === undefined) rmSync(path.join(folder, file));
        else addFiles(folder, { [file]: text });
      }
      const now = await compile();
      if (writesLock && now !== undefined) addFiles(folder, { "viceroy.lock": now.lock.text });
    }
    addFiles(folder, { "package.json": '{ "name": "shop", "type": "module" }', "schemas/b.ts": b });
  }
  expect(read(folder, "viceroy.lock")).toContain("-");
});

/** The seed for fast-check. Without the variable every run uses another seed. */
const seed = process.env["VICEROY_SEED"] === undefined ? undefined : Number(process.env["VICEROY_SEED"]);

test("compilation with a memory equals compilation from scratch after random edits", async () => {
  let compiled = 0;
  const edits = fc.array(edit, { minLength: 8, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(edits, async (chosen) => {
      let sketch = start;
      const folder = folderWith({
        "package.json": '{ "name": "shop", "type": "module" }',
        "viceroy.config.ts": config,
        ...filesOf(sketch),
      });
      const compile = await comparing(folder);
      await compile();
      for (const one of chosen) {
        const before = sketch;
        sketch = edited(sketch, one);
        const files = filesOf(sketch);
        for (const file of Object.keys(filesOf(before))) if (!(file in files)) rmSync(path.join(folder, file));
        addFiles(folder, files);
        const output = await compile();
        if (output !== undefined) compiled++;
        if (output !== undefined && one.what === "write lock") addFiles(folder, { "viceroy.lock": output.lock.text });
      }
      rmSync(folder, { recursive: true });
    }),
    { numRuns: Number(process.env["VICEROY_EDITS"] ?? 12), ...(seed !== undefined && { seed }) },
  );
  // About half of all edits leave a schema without errors.
  expect(compiled).toBeGreaterThan(20);
}, 600_000);

/** Returns a function that compiles with the memory and from scratch, and compares the two results. */
async function comparing(folder: string): Promise<() => Promise<CompiledOutput | undefined>> {
  const watching = new Project(folder);
  const memory = new CompileMemory();
  const config = await watching.config();
  const source = await watching.source();
  return async () => {
    const now = compileProject(config, source, "1.0.0", memory);
    const afresh = compileProject(config, await new Project(folder).source(), "1.0.0");
    expect(now.diagnostics).toEqual(afresh.diagnostics);
    expect(now.output?.files).toEqual(afresh.output?.files);
    expect(now.output?.lock.text).toBe(afresh.output?.lock.text);
    expect(now.output?.schema).toEqual(afresh.output?.schema);
    return now.output;
  };
}
